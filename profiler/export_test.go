package profiler

// Crowded returns a configuration in which a fourth of what can stay in place
// behind a springboard does: code so crowded that springboards find no room.
func Crowded(c Config) Config {
	c.testing.HoldSome = true
	return c
}
