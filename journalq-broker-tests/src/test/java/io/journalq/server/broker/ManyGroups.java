package io.journalq.server.broker;

import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;

/** Groups {@code group-0} and so on. */
final class ManyGroups {
    private static final int FIND_COORDINATOR_VERSION = 4;

    private ManyGroups() {}

    /** Creates the internal topic of groups, and waits until the coordinators of {@code count} groups are loaded. */
    static void awaitLoaded(TestBroker broker, WireClient client, int count) {
        List<String> groups =
                IntStream.range(0, count).mapToObj(group -> "group-" + group).toList();
        FindCoordinatorRequest request = new FindCoordinatorRequest().setCoordinatorKeys(groups);
        broker.awaitQuietly(() -> {
            try {
                return client
                        .call(FindCoordinatorResponse.class, request, FIND_COORDINATOR_VERSION)
                        .coordinators()
                        .stream()
                        .allMatch(coordinator -> coordinator.errorCode() == 0);
            } catch (IOException failure) {
                throw new AssertionError(failure);
            }
        });
    }
}
