// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/graph.h"

#include <algorithm>

namespace strata::simgpu {

UserObject::UserObject(void* value, void (*destroy)(void*), unsigned references)
    : m_value(value)
    , m_destroy(destroy)
    , m_references(references)
{
}

void UserObject::release(unsigned count)
{
    m_references -= std::min(count, m_references);
    if (m_references > 0)
        return;
    if (m_destroy)
        m_destroy(m_value);
    delete this;
}

Graph::~Graph()
{
    for (const Held& held : m_objects)
        held.object->release(held.count);
}

GraphNode& Graph::add(NodeType type, std::vector<GraphNode*> dependencies, std::function<void()> run)
{
    auto node = std::make_unique<GraphNode>();
    node->type = type;
    node->run = std::move(run);
    for (GraphNode* dependency : dependencies)
        dependency->hasDependents = true;
    node->dependencies = std::move(dependencies);
    m_nodes.push_back(std::move(node));
    return *m_nodes.back();
}

GraphProgram Graph::program() const
{
    GraphProgram program;
    for (const auto& node : m_nodes) {
        if (node->run)
            program.runs.push_back(node->run);
        if (node->work.kind != DeviceWork::Kind::None)
            program.works.push_back(node->work);
        if (node->child) {
            const GraphProgram& child = *node->child;
            program.runs.insert(program.runs.end(), child.runs.begin(), child.runs.end());
            program.works.insert(program.works.end(), child.works.begin(), child.works.end());
        }
    }
    return program;
}

void Graph::shareObjects(Graph& copy) const
{
    for (const Held& held : m_objects) {
        held.object->retain(held.count);
        copy.hold(*held.object, held.count);
    }
}

} // namespace strata::simgpu
