package cfg

import "testing"

// TestStandard: the C++ library's own, of libstdc++ and of libc++.
func TestStandard(t *testing.T) {
	for name, want := range map[string]struct{ meets, frees bool }{
		"_ZNSt7barrierISt18__empty_completionE15arrive_and_waitEv":                                               {true, true},
		"_ZNSt3__17barrierINS_18__empty_completionEE15arrive_and_waitB7v160006Ev":                                {true, true},
		"_ZNKSt7barrierISt18__empty_completionE4waitEONS1_13arrival_tokenE":                                      {true, false},
		"_ZNSt7barrierIZ4mainEUlvE_E6arriveEl":                                                                   {false, true},
		"_ZNKSt5latch4waitEv":                                                                                    {true, false},
		"_ZNSt5latch10count_downEl":                                                                              {false, true},
		"_ZSt23__atomic_wait_address_vIiZNKSt13__atomic_baseIiE4waitEiSt12memory_orderEUlvE_EvPKT_S4_T0_.isra.0": {true, false},
		"_ZNSt18counting_semaphoreILl1EE7acquireEv":                                                              {true, false},
		"_ZNSt14__tree_barrierISt18__empty_completionE6arriveEl":                                                 {false, true},
		"_ZNKSt14__tree_barrierISt18__empty_completionE4waitEOSt17__barrier_phase_t":                             {},
		"_ZNSt7barrierISt18__empty_completionEC1ElS0_":                                                           {},
		"_ZN4mine7barrierIiE15arrive_and_waitEv":                                                                 {},
		"main":                                                                                                   {},
		"_ZN3std4sync7barrier7Barrier4wait17h0123456789abcdefE":                                                  {true, true},
		"_RNvMs0_NtNtCsjrHSEGnQ3l9_3std4sync7barrierNtB5_7Barrier4wait":                                          {true, true},
		"_ZN3std6thread4park17h0123456789abcdefE":                                                                {true, false},
		"_RNvMs_NtNtCsjrHSEGnQ3l9_3std6thread6threadNtB4_6Thread4park":                                           {true, false},
		"_ZN3std6thread12park_timeout17h0123456789abcdefE":                                                       {},
		"_RNvMs_NtNtCsjrHSEGnQ3l9_3std6thread6threadNtB4_6Thread6unpark":                                         {},
		"_ZN11parking_lot7condvar7Condvar19wait_until_internal17h33cd41eee49d7e9dE":                              {true, false},
		"_ZN11parking_lot7condvar7Condvar15notify_all_slow17h37323e8e823ccf00E":                                  {false, true},
		"_ZN11parking_lot9raw_mutex8RawMutex9lock_slow17hdc30fc1e2151b812E":                                      {},
		"_ZN16parking_lot_core11parking_lot16lock_bucket_pair17h5f01cd01e5911b9dE":                               {},
		"_ZN5tokio7runtime4park16CachedParkThread4park17h1ec37924d2196e33E":                                      {true, false},
		"_ZN5tokio7runtime4task5state5State21transition_to_running17h6fd3d24ddb66af7eE":                          {true, false},
		"_ZN5tokio7runtime4task5state5State22transition_to_complete17hcc104f4e28736cbbE":                         {},
	} {
		e := standard(name)
		if e == nil {
			e = &effect{}
		}
		if e.meets() != want.meets || e.frees != want.frees {
			t.Errorf("%s: meets %v, frees %v", name, e.meets(), e.frees)
		}
	}
}
