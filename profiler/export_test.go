package profiler

import "github.com/skewlens/skewlens/profile"

// Crowded returns a configuration in which a fourth of what can stay in place
// behind a springboard does: code so crowded that springboards find no room.
func Crowded(c Config) Config {
	c.testing.HoldSome = true
	return c
}

// Told returns a configuration in which caches are simulated beside the program, as those
// are that it cannot simulate itself: the oracle of those that it can.
// How often each instruction accessed what is counted is put into accessed.
func Told(c Config, accessed map[profile.Addr]uint64) Config {
	if c.testing.Tells = true; accessed != nil {
		c.testing.Accessed = &accessed
	}
	return c
}
