package section

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// What the functions of MPI are, by the standard's C names: all ranks of a
// communicator call a collective one; where a rank waits for one other it calls one
// that talks. Arguments are counted from 1. Fortran's bindings have the same ones in
// the same places, each by reference, and one more, for the error.
//
//	C             MPI_Barrier, PMPI_Barrier          values; handles are pointers or numbers
//	mpif.h, mpi   mpi_barrier_ (as compilers name it)  pointers to numbers
//	mpi_f08       mpi_barrier_f08_, …_f08ts_            likewise

// mpiMeeting is a collective call, and where its communicator is among its n arguments.
type mpiMeeting struct {
	name    string
	comm, n uint8
}

var mpiMeetings = []mpiMeeting{
	{"Barrier", 1, 1}, {"Bcast", 5, 5},
	{"Gather", 8, 8}, {"Gatherv", 9, 9}, {"Scatter", 8, 8}, {"Scatterv", 9, 9},
	{"Allgather", 7, 7}, {"Allgatherv", 8, 8}, {"Alltoall", 7, 7}, {"Alltoallv", 9, 9}, {"Alltoallw", 9, 9},
	{"Reduce", 7, 7}, {"Allreduce", 6, 6}, {"Reduce_scatter", 6, 6}, {"Reduce_scatter_block", 6, 6}, {"Scan", 6, 6}, {"Exscan", 6, 6},
	{"Neighbor_allgather", 7, 7}, {"Neighbor_alltoall", 7, 7}, {"Neighbor_alltoallv", 9, 9},
}

// mpiMaker is a collective call that makes a communicator, or what stands for one (a
// window, a file), of another one. What tells the new ones of one call apart is its
// argument color; where there is none, all members get the same.
type mpiMaker struct {
	name                string
	comm, color, out, n uint8
	apart               apart
}

// apart says how those communicators that one call makes differ.
type apart uint8

const (
	oneForAll    apart = iota
	byColor            // an argument tells
	byNode             // each node has one
	unknownApart       // nothing that is seen tells
)

var mpiMakers = []mpiMaker{
	{"Comm_dup", 1, 0, 2, 2, oneForAll}, {"Comm_dup_with_info", 1, 0, 3, 3, oneForAll}, {"Comm_split", 1, 2, 4, 4, byColor}, {"Comm_split_type", 1, 2, 5, 5, byNode},
	{"Comm_create", 1, 0, 3, 3, unknownApart}, {"Cart_create", 1, 0, 6, 6, oneForAll}, {"Graph_create", 1, 0, 6, 6, oneForAll},
	{"Dist_graph_create", 1, 0, 9, 9, oneForAll}, {"Dist_graph_create_adjacent", 1, 0, 10, 10, oneForAll}, {"Cart_sub", 1, 0, 3, 3, unknownApart},
	{"Win_create", 5, 0, 6, 6, oneForAll}, {"Win_allocate", 4, 0, 6, 6, oneForAll}, {"Win_allocate_shared", 4, 0, 6, 6, oneForAll}, {"Win_create_dynamic", 2, 0, 3, 3, oneForAll},
	{"File_open", 1, 0, 5, 5, oneForAll},
}

// mpiOnOthers are collective calls on what stands for a communicator. A pointer to it
// is one argument even in C.
var mpiOnOthers = []struct {
	mpiMeeting
	pointer bool
}{
	{mpiMeeting{"Win_fence", 2, 2}, false}, {mpiMeeting{"Win_free", 1, 1}, true}, {mpiMeeting{"File_close", 1, 1}, true},
	{mpiMeeting{"File_write_all", 1, 5}, false}, {mpiMeeting{"File_read_all", 1, 5}, false}, {mpiMeeting{"File_write_at_all", 1, 6}, false}, {mpiMeeting{"File_read_at_all", 1, 6}, false},
	{mpiMeeting{"File_set_view", 1, 6}, false},
}

// mpiTalk is a call in which a rank may wait for one other: which, by its number in
// the communicator, is an argument.
type mpiTalk struct {
	name             string
	partner, comm, n uint8
}

var (
	mpiReceives = []mpiTalk{{"Recv", 4, 6, 7}, {"Mrecv", 0, 0, 5}, {"Probe", 1, 3, 4}, {"Mprobe", 1, 3, 5}, {"Sendrecv", 9, 11, 12}, {"Sendrecv_replace", 6, 8, 9}}
	mpiSends    = []mpiTalk{{"Send", 4, 6, 6}, {"Ssend", 4, 6, 6}, {"Rsend", 4, 6, 6}}
	// Promises are kept later: their last argument is where they put a request.
	mpiPromisedReceives = []mpiTalk{{"Irecv", 4, 6, 7}}
	mpiPromisedSends    = []mpiTalk{{"Isend", 4, 6, 7}, {"Issend", 4, 6, 7}}
	// Waits are for one request, which the first argument leads to, or for some of many.
	mpiWaits = []mpiTalk{{"Wait", 1, 0, 2}}
	mpiSome  = []mpiTalk{{"Waitall", 0, 0, 3}, {"Waitany", 0, 0, 4}, {"Waitsome", 0, 0, 5}}
)

// Where a program begins and ends to be one of many.
var (
	mpiInit     = []mpiTalk{{"Init", 0, 0, 2}, {"Init_thread", 0, 0, 4}}
	mpiFinalize = []mpiTalk{{"Finalize", 0, 0, 1}}
)

// binding is how a language calls the functions.
type binding uint8

const (
	inC binding = iota
	inFortran
)

// names are what a function is called by.
func (b binding) names(name string) []string {
	if b == inC {
		return []string{"MPI_" + name, "PMPI_" + name}
	}
	low := strings.ToLower(name)
	var list []string
	for _, p := range []string{"mpi_", "pmpi_"} {
		for _, end := range []string{"_", "__", "_f08_", "_f08ts_"} {
			list = append(list, p+low+end)
		}
	}
	return list
}

// names are what a function is called by, where that is asked for: it takes longer than all
// else that a tracker begins with.
func (m *mpiRule) names(b binding, name string) []string {
	if m.t != nil {
		return nil
	}
	return b.names(name)
}

// args are what is recorded of a call with n arguments: a communicator, or what stands
// for it, and another one, and where it puts what it makes.
func (b binding) args(n, comm, other, out uint8) record.Args {
	a := record.Args{N: n, Arg1: record.Arg{At: comm}, Arg3: record.Arg{At: other}}
	if out > 0 {
		a.Out = record.Arg{At: out, By: record.Pointer64}
	}
	if b == inFortran {
		a.N++ // the error
		a.Arg1.By, a.Arg3.By = record.Pointer32, record.Pointer32
		if out > 0 {
			a.Out.By = record.Pointer32
		}
	}
	return a
}
