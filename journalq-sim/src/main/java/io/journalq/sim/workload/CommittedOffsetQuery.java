package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.sim.world.SimBroker;
import java.util.List;

/** Asks a restarted broker for the committed offset of a group in a partition. */
public final class CommittedOffsetQuery {
    private static final long UNKNOWN = Long.MIN_VALUE;
    private static final long UNDECIDED = UNKNOWN + 1;
    private static final int FETCH_VERSION = 8;
    private static final int RETRY_PAUSE_MS = 100;
    private static final int MOST_TRIES = 100;

    private final World world;
    private final CommitHistory history;
    private long offset = UNKNOWN;
    private int tries;

    private CommittedOffsetQuery(World world, CommitHistory history) {
        this.world = world;
        this.history = history;
    }

    /** Sends the request. {@link #isKnown} tells when the result is there. */
    public static CommittedOffsetQuery ask(World world, CommitHistory history) {
        CommittedOffsetQuery asked = new CommittedOffsetQuery(world, history);
        asked.ask(world.broker().connect());
        return asked;
    }

    public CommitHistory history() {
        return history;
    }

    public boolean isKnown() {
        return offset != UNKNOWN;
    }

    /** The committed offset; -1 if there is none. */
    public long offset() {
        return offset;
    }

    private void ask(SimBroker.Connection from) {
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setRequireStable(true)
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId(history.group())
                        .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopics()
                                .setName(history.partition().topic())
                                .setPartitionIndexes(List.of(history.partition().partition()))))));
        from.send(
                ApiKey.OFFSET_FETCH,
                FETCH_VERSION,
                request,
                message -> onResponse(from, (OffsetFetchResponse) message));
    }

    private void onResponse(SimBroker.Connection from, OffsetFetchResponse response) {
        OffsetFetchResponse.OffsetFetchResponseGroup group = response.groups().get(0);
        ErrorCode error = ErrorCode.of(group.errorCode());
        if (error == ErrorCode.NONE) {
            OffsetFetchResponse.OffsetFetchResponsePartitions found =
                    group.topics().get(0).partitions().get(0);
            error = ErrorCode.of(found.errorCode());
            if (error == ErrorCode.NONE) {
                offset = found.committedOffset();
                return;
            }
        }
        boolean noGroup = error == ErrorCode.COORDINATOR_NOT_AVAILABLE && !history.isAnyAcknowledged();
        // An open transaction is aborted after its timeout, which may be long.
        boolean undecided = error == ErrorCode.UNSTABLE_OFFSET_COMMIT && tries > MOST_TRIES / 2;
        if (noGroup || undecided) {
            offset = UNDECIDED;
        } else if (tries++ < MOST_TRIES) {
            world.later(RETRY_PAUSE_MS, () -> ask(from));
        } else {
            if (!world.isHarmed()) {
                world.report("GroupsAreServed", history.group() + " gets " + error + " in " + MOST_TRIES + " tries");
            }
            offset = -1;
        }
    }

    /** Whether there is no result, because a transaction is open or because no coordinator can exist. */
    public boolean isUndecided() {
        return offset == UNDECIDED;
    }
}
