// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/device_work.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace strata::simgpu {

class Graph;

/// What an instantiated graph does at each launch, nodes of graphs within it included.
struct GraphProgram {
    std::vector<std::function<void()>> runs; ///< what is really done
    std::vector<DeviceWork> works; ///< what the simulated device is busy with
};

/// Numbered as cudaGraphNodeType and CUgraphNodeType.
enum class NodeType : int {
    Kernel = 0,
    Memcpy = 1,
    Memset = 2,
    Host = 3,
    Graph = 4,
    Empty = 5,
    Conditional = 13
};

struct GraphNode {
    NodeType type = NodeType::Kernel;
    std::vector<GraphNode*> dependencies;
    bool hasDependents = false;
    std::function<void()> run; ///< what a launch really does: small copies and host functions, else empty
    DeviceWork work; ///< what the simulated device is busy with, of kind None for nothing
    std::shared_ptr<const GraphProgram> child; ///< of a node that launches another instantiated graph
    std::vector<std::unique_ptr<Graph>> bodies; ///< of a conditional node
    std::unique_ptr<Graph*[]> bodyHandles; ///< the same, as the array that the program reads
};

/// A value whose destruction the program hands to graphs. Counts references of the program and of graphs
/// alike and deletes itself with the last one.
class UserObject {
public:
    UserObject(void* value, void (*destroy)(void*), unsigned references);
    void retain(unsigned count) { m_references += count; }
    void release(unsigned count);

private:
    void* m_value;
    void (*m_destroy)(void*);
    unsigned m_references;
};

/// Nodes in the order they were recorded, which is an order in which they may run. Owns its nodes and holds
/// references to user objects. Not thread-safe.
class Graph {
public:
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph();

    GraphNode& add(NodeType type, std::vector<GraphNode*> dependencies, std::function<void()> run = {});
    const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return m_nodes; }

    /// Takes over `count` references; the caller has added them or gives up its own.
    void hold(UserObject& object, unsigned count) { m_objects.push_back({ &object, count }); }

    GraphProgram program() const;
    /// Gives `copy` references of its own to every user object of this graph.
    void shareObjects(Graph& copy) const;

private:
    struct Held {
        UserObject* object;
        unsigned count;
    };

    std::vector<std::unique_ptr<GraphNode>> m_nodes;
    std::vector<Held> m_objects;
};

/// An instantiated graph; independent of the graph it was made from.
struct GraphExec {
    std::shared_ptr<const GraphProgram> program;
    std::uint32_t number = 0; ///< from 1, in the order they were made
    Graph objects; ///< no nodes, only references
};

} // namespace strata::simgpu
