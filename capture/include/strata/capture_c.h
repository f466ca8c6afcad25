/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STRATA_CAPTURE_C_H
#define STRATA_CAPTURE_C_H

/* The recorder as C functions, of libstrata_capture.so. Any thread; none throws, none ends the program. What
 * fails is said once on stderr. strata/capture.h wraps them for C++. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum strata_capture_stacks {
    STRATA_CAPTURE_STACKS_NONE = 0,
    STRATA_CAPTURE_STACKS_NATIVE = 1, /* return addresses */
    STRATA_CAPTURE_STACKS_PYTHON = 2,
    STRATA_CAPTURE_STACKS_AUTO = 3 /* Python's; return addresses where the thread runs no Python */
};

struct strata_capture_options {
    uint32_t size; /* of this struct, as the caller knows it */
    uint32_t stacks; /* enum strata_capture_stacks */
    const char* file; /* the session that is made, NULL or empty with `live`: none; must not be there;
                         "{process}" becomes the process's number */
    uint64_t ring_events; /* room for each device; 0: 131072 */
    uint64_t memory_limit; /* bytes of host memory at most; 0: 256 MiB */
    uint32_t
        shared; /* 1: other processes may be told the same file; each but the first takes a name beside it */
    const char* list_file; /* gets a line for each file that is made; NULL: none */
    const char*
        simulated_device; /* JSON of the device that is simulated, kept among the settings; NULL: none */
    /* Where the hook for this LibTorch has to be compiled first, once, in ten seconds. 0: who begins the
     * recording waits for it. 1: the program goes on, and the recording begins when it is there. */
    uint32_t aside;
    uint32_t existing; /* enum strata_capture_existing: where `file` is there already */
    uint32_t
        live; /* 1: `strata list` shows this process, `strata attach` watches it; `file` may be NULL then */
    /* STRATA_CAPTURE_TCP and a port of 127.0.0.1 (0: one that is free), for tunnels, with the token in the
     * environment variable STRATA_TOKEN, else one that is said on stderr. 0: none. */
    uint32_t live_port;
    uint64_t live_memory; /* bytes kept for those who look on, where there is no file; 0: 64 MiB */
    uint32_t
        kernels; /* enum strata_capture_kernels: what the device does, and the calls that have it do so */
    /* 1: PyTorch's operators too, with sizes and types of their inputs, where kernels are recorded: which
     * launched what. Costs microseconds an operator. */
    uint32_t operators;
};

enum strata_capture_kernels {
    STRATA_CAPTURE_KERNELS_OFF = 0,
    STRATA_CAPTURE_KERNELS_ASIDE = 1, /* while another profiler runs, as torch.profiler, it alone is told */
    STRATA_CAPTURE_KERNELS_SHARED = 2 /* then both are */
};

#define STRATA_CAPTURE_TCP 0x10000u

enum strata_capture_existing {
    STRATA_CAPTURE_REFUSE = 0, /* nothing is recorded, which is said at once */
    STRATA_CAPTURE_REPLACE = 1,
    STRATA_CAPTURE_NUMBER = 2 /* "run.2.strata", "run.3.strata", ... is made beside it */
};

enum strata_capture_state {
    STRATA_CAPTURE_OFF = 0,
    STRATA_CAPTURE_WAITING = 1, /* for LibTorch's allocator: it begins with the first segment */
    STRATA_CAPTURE_RECORDING = 2
};

/* Begins a recording, at once or when the allocator is ready. Returns the state. */
__attribute__((visibility("default"))) int strata_capture_start(const struct strata_capture_options* options);

/* Begins a recording that waits, if the allocator is ready. Cheap. Returns the state. */
__attribute__((visibility("default"))) int strata_capture_poll(void);

/* Writes the state of the allocator and everything else, and ends the file. The end of the process does it
 * too. */
__attribute__((visibility("default"))) void strata_capture_stop(void);

/* The process is about to end by _exit(), which runs nothing: what was recorded goes to the file. Waits half
 * a second at most. Async-signal-safe. Programs that link the recorder, or that it is preloaded into, have it
 * done for them. */
__attribute__((visibility("default"))) void strata_capture_exiting(void);

enum strata_capture_kind {
    STRATA_CAPTURE_BEGIN = 0, /* of a range */
    STRATA_CAPTURE_END = 1,
    STRATA_CAPTURE_MARK = 2
};

/* A range begins or ends, or something happens, now. Nothing while nothing is recorded. */
__attribute__((visibility("default"))) void strata_capture_annotate(int kind, const char* name);

enum strata_capture_role {
    STRATA_CAPTURE_PARAMETER = 0,
    STRATA_CAPTURE_BUFFER = 1,
    STRATA_CAPTURE_GRADIENT = 2,
    STRATA_CAPTURE_OPTIMIZER_STATE = 3,
    STRATA_CAPTURE_INPUT = 4,
    STRATA_CAPTURE_STEPPED = 5, /* no tensor: to be listed when an optimizer has done a step */
    STRATA_CAPTURE_STEPPED_UNLISTED = 6 /* the same where its tensors are not listed */
};

/* Without an optimizer. */
#define STRATA_CAPTURE_NO_OPTIMIZER UINT32_MAX

struct strata_capture_tensor {
    uint32_t size; /* of this struct, as the caller knows it */
    int32_t device;
    uint32_t role; /* enum strata_capture_role */
    uint32_t optimizer; /* of strata_capture_optimizer(), or STRATA_CAPTURE_NO_OPTIMIZER */
    const char* name; /* "h.3.attn.weight", of the parameter that it belongs to; of a step, the optimizer's */
    const char* part; /* what of the state of an optimizer, "exp_avg"; NULL: none */
    const char* dtype; /* "bfloat16"; NULL: none */
    uint64_t elements; /* that lie on the device */
};

/* A number for an optimizer. */
__attribute__((visibility("default"))) uint32_t strata_capture_optimizer(void);

/* A tensor that is to be listed, now or later. Its number; 0 if there are too many. */
__attribute__((visibility("default"))) uint32_t strata_capture_add_tensor(
    const struct strata_capture_tensor* tensor);

/* Where tensors are now: `count` pairs of a number and an address, 0 where there is none any more. A tensor
 * that is where it was need not be listed again, as long as the step of its optimizer is. */
__attribute__((visibility("default"))) void strata_capture_list(const uint64_t* pairs, uint64_t count);

/* An optimizer, by its address, has done a step over `count` parameters, at::TensorImpls: of a program of
 * whose tensors nobody tells. Nothing where the program has asked for numbers of optimizers, and tells
 * itself. */
__attribute__((visibility("default"))) void strata_capture_optimizer_stepped(
    const void* optimizer, const char* type, const void* const* parameters, uint64_t count);

/* A torch.nn.Module, by its address: it became a part `name` of `parent` (0: only its class is told), and
 * ended. */
__attribute__((visibility("default"))) void strata_capture_module(
    uint64_t module, uint64_t parent, const char* name, const char* type);
__attribute__((visibility("default"))) void strata_capture_module_gone(uint64_t module);

/* "h.3.attn.weight" of `name` in a module, unlike the names in all other modules. At most `room` bytes with
 * their end. */
__attribute__((visibility("default"))) void strata_capture_name_in(
    uint64_t module, const char* name, char* full, uint64_t room);

/* A deep step begins: until it ends, on the same thread, every operator is recorded with its tensors, and
 * when the program lets go of them; once a recording. 1: it has begun. `unusable`: why it is not to be used,
 * NULL: it is. */
__attribute__((visibility("default"))) int strata_capture_deep_begin(void);
__attribute__((visibility("default"))) void strata_capture_deep_end(const char* unusable);

/* The same of a program without a Python, of which LibTorch itself tells what autograd saves. `parameters`:
 * of the optimizer, `count` at::TensorImpls. */
__attribute__((visibility("default"))) int strata_capture_deep_begin_alone(
    const void* const* parameters, uint64_t count);
/* In that one, behind STRATA_CAPTURE_CALL_BACKWARD_ENDS: gradients are there. */
__attribute__((visibility("default"))) void strata_capture_deep_gradients(void);

enum strata_capture_deep {
    STRATA_CAPTURE_DEEP_SAVED = 3, /* a tensor, for backward */
    STRATA_CAPTURE_DEEP_UNPACKED = 4,
    STRATA_CAPTURE_DEEP_RELEASED = 5,
    STRATA_CAPTURE_DEEP_ENTERS = 6, /* the forward of a module */
    STRATA_CAPTURE_DEEP_LEAVES = 7
};

/* What is saved gets a number. `tensor` is an at::TensorImpl: of SAVED an alias that is held, of UNPACKED
 * what backward gets, of which the recorder sees when it is let go; of RELEASED NULL. */
__attribute__((visibility("default"))) void strata_capture_deep_saved(
    uint32_t kind, uint32_t number, const void* tensor);

/* A module by its address, of strata_capture_module(), with the `count` at::TensorImpls that it takes or
 * returns. */
__attribute__((visibility("default"))) void strata_capture_deep_module(
    uint32_t kind, uint64_t module, const char* type, const void* const* tensors, uint64_t count);

enum strata_capture_call {
    STRATA_CAPTURE_CALL_BACKWARD = 4, /* roots, then their gradients; `detail`: how, as a JSON object */
    STRATA_CAPTURE_CALL_BACKWARD_ENDS = 5, /* gradients that it returns */
    STRATA_CAPTURE_CALL_AUTOCAST = 6, /* `name`: "c10::BFloat16"; `detail`: "off", "no cache" or NULL */
    STRATA_CAPTURE_CALL_AUTOCAST_ENDS = 7,
    STRATA_CAPTURE_CALL_KNOWN = 8 /* `name`: "parameter", "gradient" or "state", as CallKind has it */
};

/* What the program does in a deep step besides calling operators, so that its calls can be made again without
 * it. `tensors`: `count` at::TensorImpls. */
__attribute__((visibility("default"))) void strata_capture_deep_call(
    uint32_t kind, const char* name, const char* detail, const void* const* tensors, uint64_t count);

/* What Python says of the calling thread's frames, innermost first, each "FILE\tNAME\tLINE\n". 1 if they can
 * be read: only then does a recording have Python's stacks. */
__attribute__((visibility("default"))) int strata_capture_check_python(const char* frames);

/* What Python says is the first local variable of its innermost frame. 1 if it can be read: only then do
 * allocations tell their module. After strata_capture_check_python(). */
__attribute__((visibility("default"))) int strata_capture_check_local(uint64_t object);

/* 1 once strata_capture_check_python() has said so. */
__attribute__((visibility("default"))) int strata_capture_reads_python(void);

#ifdef __cplusplus
}
#endif

#endif
