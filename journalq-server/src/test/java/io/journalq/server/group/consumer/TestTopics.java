package io.journalq.server.group.consumer;

import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Topics of a test. Immutable. */
record TestTopics(List<Topic> list) implements Topics {
    static TestTopics of(Topic... topics) {
        return new TestTopics(List.of(topics));
    }

    static Topic topic(int number, String name, int partitionCount) {
        return new Topic(new Uuid(7, number), name, partitionCount);
    }

    TestTopics with(Topic topic) {
        List<Topic> more = new ArrayList<>(without(topic.name()).list);
        more.add(topic);
        return new TestTopics(more);
    }

    TestTopics without(String name) {
        return new TestTopics(
                list.stream().filter(topic -> !topic.name().equals(name)).toList());
    }

    @Override
    public Topic byName(String name) {
        return list.stream()
                .filter(topic -> topic.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    @Override
    public Topic byId(Uuid id) {
        return list.stream().filter(topic -> topic.id().equals(id)).findFirst().orElse(null);
    }

    @Override
    public Collection<Topic> all() {
        return list;
    }
}
