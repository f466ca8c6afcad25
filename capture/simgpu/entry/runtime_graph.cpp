// SPDX-License-Identifier: Apache-2.0
// CUDA runtime: stream capture, graphs, user objects.
#include "capture/simgpu/entry/activity.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace strata::simgpu {

namespace {

using api::Result;

enum CaptureStatus { kNone = 0, kActive = 1, kInvalidated = 2 };

CaptureStatus statusOf(const Streams::CapturePtr& capture)
{
    if (!capture)
        return kNone;
    return capture->invalid ? kInvalidated : kActive;
}

std::vector<GraphNode*> nodesOf(void* const* nodes, std::size_t count)
{
    std::vector<GraphNode*> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(static_cast<GraphNode*>(nodes[i]));
    return out;
}

/// The two-call form: without room the number, with room at most `*count` of them.
template <class Nodes, class Get>
Result listNodes(const Nodes& nodes, Get get, void** out, std::size_t* count)
{
    if (!count)
        return remember(Status::InvalidValue);
    if (out) {
        for (std::size_t i = 0; i < std::min(*count, nodes.size()); ++i)
            out[i] = get(nodes[i]);
        std::fill(out + std::min(*count, nodes.size()), out + *count, nullptr);
    }
    *count = nodes.size();
    return 0;
}

Result captureInfo(void* stream, int* status, unsigned long long* id, void** graph,
    void* const** dependencies, std::size_t* count)
{
    const auto lock = locked();
    Streams& streams = machine().streams;
    const Streams::CapturePtr& capture = streams.capture(addressOf(stream));
    *status = statusOf(capture);
    if (id)
        *id = capture ? capture->id : 0;
    if (graph)
        *graph = capture ? capture->graph : nullptr;
    if (count)
        *count = capture ? streams.find(addressOf(stream))->frontier.size() : 0;
    if (dependencies) {
        *dependencies = nullptr;
        if (capture)
            *dependencies = reinterpret_cast<void* const*>(streams.find(addressOf(stream))->frontier.data());
    }
    return 0;
}

Result updateDependencies(void* stream, void* const* nodes, std::size_t count, unsigned flags)
{
    constexpr unsigned kSet = 1;
    const auto lock = locked();
    Streams& streams = machine().streams;
    if (!streams.capture(addressOf(stream)))
        return remember(Status::IllegalState);
    auto& frontier = streams.find(addressOf(stream))->frontier;
    if ((flags & kSet) != 0)
        frontier.clear();
    for (GraphNode* node : nodesOf(nodes, count)) {
        if (std::find(frontier.begin(), frontier.end(), node) == frontier.end())
            frontier.push_back(node);
    }
    return 0;
}

Result addNode(void** out, void* graph, void* const* dependencies, std::size_t count, NodeType type,
    std::function<void()> run = {})
{
    if (!graph)
        return remember(Status::InvalidValue);
    const auto lock = locked();
    GraphNode& node = static_cast<Graph*>(graph)->add(type, nodesOf(dependencies, count), std::move(run));
    if (out)
        *out = &node;
    return 0;
}

Result addNodeWithParams(
    void** out, void* graph, void* const* dependencies, std::size_t count, api::ConditionalNodeParams* params)
{
    void* made = nullptr;
    const Result result = addNode(&made, graph, dependencies, count, static_cast<NodeType>(params->type));
    if (result != 0)
        return result;
    auto* node = static_cast<GraphNode*>(made);
    if (node->type == NodeType::Conditional) {
        auto** bodies = new Graph*[params->size];
        for (unsigned i = 0; i < params->size; ++i) {
            node->bodies.push_back(std::make_unique<Graph>());
            bodies[i] = node->bodies.back().get();
        }
        node->bodyHandles.reset(bodies);
        params->bodies = reinterpret_cast<void**>(bodies);
    }
    if (out)
        *out = node;
    return 0;
}

Result dependenciesOf(void* node, void** out, std::size_t* count)
{
    const auto lock = locked();
    return listNodes(
        static_cast<GraphNode*>(node)->dependencies, [](GraphNode* each) { return each; }, out, count);
}

} // namespace

STRATA_API Result cudaStreamIsCapturing(void* stream, int* status)
{
    const ApiCall call(Api::StreamIsCapturing);
    *status = kNone;
    if (!machine().streams.anyCapture())
        return 0;
    const auto lock = locked();
    *status = statusOf(machine().streams.capture(addressOf(stream)));
    return 0;
}

STRATA_API Result cudaThreadExchangeStreamCaptureMode(int* mode)
{
    static thread_local int t_mode = 0;
    std::swap(*mode, t_mode);
    return 0;
}

STRATA_API Result cudaStreamBeginCapture(void* stream, int)
{
    const ApiCall call(Api::StreamBeginCapture);
    const auto lock = locked();
    return remember(machine().streams.beginCapture(addressOf(stream), nullptr, {}));
}

STRATA_API Result cudaStreamBeginCaptureToGraph(
    void* stream, void* graph, void* const* dependencies, const void*, std::size_t count, int)
{
    if (!graph)
        return remember(Status::InvalidValue);
    const auto lock = locked();
    return remember(machine().streams.beginCapture(
        addressOf(stream), static_cast<Graph*>(graph), nodesOf(dependencies, count)));
}

STRATA_API Result cudaStreamEndCapture(void* stream, void** graph)
{
    const ApiCall call(Api::StreamEndCapture);
    const auto lock = locked();
    Graph* made = nullptr;
    const Status status = machine().streams.endCapture(addressOf(stream), made);
    *graph = made;
    return remember(status);
}

#if STRATA_CUDA_MAJOR >= 13
STRATA_API Result cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph,
    void* const** dependencies, const void** edges, std::size_t* count)
{
    if (edges)
        *edges = nullptr;
    return captureInfo(stream, status, id, graph, dependencies, count);
}

STRATA_API Result cudaStreamUpdateCaptureDependencies(
    void* stream, void* const* nodes, const void*, std::size_t count, unsigned flags)
{
    return updateDependencies(stream, nodes, count, flags);
}

STRATA_API Result cudaGraphNodeGetDependencies(void* node, void** out, void*, std::size_t* count)
{
    return dependenciesOf(node, out, count);
}

STRATA_API Result cudaGraphAddNode(void** out, void* graph, void* const* dependencies, const void*,
    std::size_t count, api::ConditionalNodeParams* params)
{
    return addNodeWithParams(out, graph, dependencies, count, params);
}
#else
STRATA_API Result cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
    void* const** dependencies, std::size_t* count)
{
    return captureInfo(stream, status, id, graph, dependencies, count);
}

STRATA_API Result cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
    void* const** dependencies, const void** edges, std::size_t* count)
{
    if (edges)
        *edges = nullptr;
    return captureInfo(stream, status, id, graph, dependencies, count);
}

STRATA_API Result cudaStreamUpdateCaptureDependencies(
    void* stream, void* const* nodes, std::size_t count, unsigned flags)
{
    return updateDependencies(stream, nodes, count, flags);
}

STRATA_API Result cudaStreamUpdateCaptureDependencies_v2(
    void* stream, void* const* nodes, const void*, std::size_t count, unsigned flags)
{
    return updateDependencies(stream, nodes, count, flags);
}

STRATA_API Result cudaGraphNodeGetDependencies(void* node, void** out, std::size_t* count)
{
    return dependenciesOf(node, out, count);
}

STRATA_API Result cudaGraphNodeGetDependencies_v2(void* node, void** out, void*, std::size_t* count)
{
    return dependenciesOf(node, out, count);
}

STRATA_API Result cudaGraphAddNode(
    void** out, void* graph, void* const* dependencies, std::size_t count, api::ConditionalNodeParams* params)
{
    return addNodeWithParams(out, graph, dependencies, count, params);
}

STRATA_API Result cudaGraphAddNode_v2(void** out, void* graph, void* const* dependencies, const void*,
    std::size_t count, api::ConditionalNodeParams* params)
{
    return addNodeWithParams(out, graph, dependencies, count, params);
}
#endif

STRATA_API Result cudaGraphAddEmptyNode(void** out, void* graph, void* const* dependencies, std::size_t count)
{
    return addNode(out, graph, dependencies, count, NodeType::Empty);
}

STRATA_API Result cudaGraphCreate(void** out, unsigned)
{
    *out = new Graph;
    return 0;
}

STRATA_API Result cudaGraphDestroy(void* graph)
{
    const ApiCall call(Api::GraphDestroy);
    delete static_cast<Graph*>(graph);
    return 0;
}

STRATA_API Result cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count)
{
    const auto lock = locked();
    return listNodes(
        static_cast<Graph*>(graph)->nodes(), [](const auto& each) { return each.get(); }, nodes, count);
}

STRATA_API Result cudaGraphNodeGetType(void* node, int* type)
{
    *type = static_cast<int>(static_cast<GraphNode*>(node)->type);
    return 0;
}

STRATA_API Result cudaGraphConditionalHandleCreate(unsigned long long* handle, void*, unsigned, unsigned)
{
    static std::atomic<unsigned long long> next{ 1 };
    *handle = next++;
    return 0;
}

STRATA_API Result cudaGraphInstantiate(void** out, void* graph, unsigned long long)
{
    const ApiCall call(Api::GraphInstantiate);
    static std::atomic<std::uint32_t> made{ 0 };
    auto* exec = new GraphExec;
    const auto lock = locked();
    exec->program = std::make_shared<const GraphProgram>(static_cast<Graph*>(graph)->program());
    exec->number = ++made;
    static_cast<Graph*>(graph)->shareObjects(exec->objects);
    *out = exec;
    return 0;
}

STRATA_API Result cudaGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags)
{
    const ApiCall call(Api::GraphInstantiateWithFlags);
    return cudaGraphInstantiate(out, graph, flags);
}

STRATA_API Result cudaGraphLaunch(void* exec, void* stream)
{
    const ApiCall call(Api::GraphLaunch);
    if (!exec)
        return remember(Status::InvalidHandle);
    const GraphExec& graph = *static_cast<GraphExec*>(exec);
    const std::shared_ptr<const GraphProgram> program = graph.program; // host functions may destroy the graph
    if (machine().streams.anyCapture()) {
        const auto lock = locked();
        if (GraphNode* node = machine().streams.append(addressOf(stream), NodeType::Graph)) {
            node->child = program;
            return 0;
        }
    }
    call.launch(stream, graph);
    for (const auto& run : program->runs)
        run();
    return 0;
}

STRATA_API Result cudaGraphUpload(void* exec, void*)
{
    return remember(exec ? Status::Ok : Status::InvalidHandle);
}

STRATA_API Result cudaGraphExecDestroy(void* exec)
{
    const ApiCall call(Api::GraphExecDestroy);
    delete static_cast<GraphExec*>(exec);
    return 0;
}

STRATA_API Result cudaGraphDebugDotPrint(void* graph, const char* path, unsigned)
{
    std::FILE* file = std::fopen(path, "w");
    if (!file)
        return remember(Status::InvalidValue);
    const auto lock = locked();
    std::fprintf(file, "digraph simulated {\n");
    for (const auto& node : static_cast<Graph*>(graph)->nodes()) {
        const void* name = node.get();
        std::fprintf(file, "\"%p\" [label=\"type %d\"];\n", name, static_cast<int>(node->type));
        for (const GraphNode* dependency : node->dependencies) {
            const void* from = dependency;
            std::fprintf(file, "\"%p\" -> \"%p\";\n", from, name);
        }
    }
    std::fprintf(file, "}\n");
    std::fclose(file);
    return 0;
}

STRATA_API Result cudaUserObjectCreate(
    void** out, void* value, void (*destroy)(void*), unsigned references, unsigned)
{
    *out = new UserObject(value, destroy, references);
    return 0;
}

STRATA_API Result cudaUserObjectRetain(void* object, unsigned count)
{
    static_cast<UserObject*>(object)->retain(count);
    return 0;
}

STRATA_API Result cudaUserObjectRelease(void* object, unsigned count)
{
    static_cast<UserObject*>(object)->release(count);
    return 0;
}

STRATA_API Result cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags)
{
    constexpr unsigned kMove = 1;
    auto* user = static_cast<UserObject*>(object);
    if ((flags & kMove) == 0)
        user->retain(count);
    static_cast<Graph*>(graph)->hold(*user, count);
    return 0;
}

} // namespace strata::simgpu
