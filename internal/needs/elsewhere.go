//go:build !(linux && amd64)

package needs

// The compiler stops here, at a name that says why.
var _ = skewlens_needs_linux_on_x86_64
