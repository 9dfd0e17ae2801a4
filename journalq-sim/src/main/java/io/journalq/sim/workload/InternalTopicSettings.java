package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import java.util.List;

/** Gives the internal topics small segments, so that these are rolled and compacted during a simulation. */
public final class InternalTopicSettings {
    private static final int VERSION = 1;
    private static final byte TOPIC = 2;
    private static final byte SET = 0;
    private static final int LONGEST_PAUSE_MS = 100;

    private InternalTopicSettings() {}

    /** Sends the request at a random time. A topic that does not exist yet keeps its defaults. */
    public static void shrink(World world) {
        world.later(LONGEST_PAUSE_MS, () -> world.broker()
                .connect()
                .send(
                        ApiKey.INCREMENTAL_ALTER_CONFIGS,
                        VERSION,
                        new IncrementalAlterConfigsRequest()
                                .setResources(List.of(resource("__consumer_offsets"), resource("__transaction_state"))),
                        message -> {}));
    }

    private static IncrementalAlterConfigsRequest.AlterConfigsResource resource(String topic) {
        return new IncrementalAlterConfigsRequest.AlterConfigsResource()
                .setResourceType(TOPIC)
                .setResourceName(topic)
                .setConfigs(List.of(config("segment.bytes", "1024"), config("min.cleanable.dirty.ratio", "0.1")));
    }

    private static IncrementalAlterConfigsRequest.AlterableConfig config(String name, String value) {
        return new IncrementalAlterConfigsRequest.AlterableConfig()
                .setName(name)
                .setConfigOperation(SET)
                .setValue(value);
    }
}
