package x86

// IsCall reports whether the instruction calls.
func (k Kind) IsCall() bool { return k == Call || k == CallInd }

// IsJump reports whether it is a direct jump, conditional or not.
func (k Kind) IsJump() bool { return k == Jmp || k == Jcc || k == Jrcxz }

// IsConditional reports whether it may also fall through.
func (k Kind) IsConditional() bool { return k == Jcc || k == Jrcxz }
