// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace strata::simgpu {

class Graph;

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

    /// What an instantiated copy runs at each launch.
    std::vector<std::function<void()>> program() const;
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
    std::vector<std::function<void()>> program;
    Graph objects; ///< no nodes, only references
};

} // namespace strata::simgpu
