package io.journalq.server.broker;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A broker in a process of its own that says when all of its groups are served, counted from the start of the process. The
 * one who asks runs in the same process, and so its share is in the times.
 */
final class BrokerProcess {
    /** What the line with the times begins with. */
    static final String RESULT = "served: ";

    private static final int FETCH_VERSION = 9;
    private static final long POLL_MS = 5;

    private BrokerProcess() {}

    /**
     * Arguments: the data folder, the name of a topic, how many groups there are ({@code group-0} and so on). Prints how
     * long it took in milliseconds: by the clock, the broker alone by the clock, and processor time.
     */
    public static void main(String[] arguments) throws Exception {
        int groups = Integer.parseInt(arguments[2]);
        try (TestBroker broker = new TestBroker(Path.of(arguments[0]))) {
            long beginNanos = System.nanoTime();
            broker.start();
            long startedNanos = System.nanoTime();
            try (WireClient client = new WireClient(broker.port())) {
                while (!areServed(client, arguments[1], groups)) {
                    Thread.sleep(POLL_MS);
                }
            }
            long servedMs = System.currentTimeMillis();
            long servedNanos = System.nanoTime();
            ProcessHandle process = ProcessHandle.current();
            System.out.println(RESULT
                    + (servedMs - ManagementFactory.getRuntimeMXBean().getStartTime())
                    + " " + TimeUnit.NANOSECONDS.toMillis(startedNanos - beginNanos)
                    + " " + TimeUnit.NANOSECONDS.toMillis(servedNanos - beginNanos)
                    + " "
                    + process.info().totalCpuDuration().orElseThrow().toMillis());
        }
    }

    private static boolean areServed(WireClient client, String topic, int groups) throws IOException {
        List<OffsetFetchRequest.OffsetFetchRequestGroup> asked = IntStream.range(0, groups)
                .mapToObj(group -> new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId("group-" + group)
                        .setMemberEpoch(-1)
                        .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopics()
                                .setName(topic)
                                .setPartitionIndexes(List.of(0)))))
                .toList();
        return client
                .call(OffsetFetchResponse.class, new OffsetFetchRequest().setGroups(asked), FETCH_VERSION)
                .groups()
                .stream()
                .allMatch(group -> group.errorCode() == ErrorCode.NONE.code());
    }
}
