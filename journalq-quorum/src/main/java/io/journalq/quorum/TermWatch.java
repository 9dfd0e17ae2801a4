package io.journalq.quorum;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that the term of an elected leader begins. Gives the leadership up if the term does not begin although
 * everything is sent: the acknowledgements of its first entry are lost. Ratis does not send that again, and accepts no
 * other entry before it, see decision 20.
 *
 * <p>Any thread may call {@link #begin}. The checks run on the thread that {@code later} uses.
 */
final class TermWatch {
    /** Time between two looks at whether a term has begun. That usually takes a few milliseconds. */
    static final int CHECK_MS = RatisSettings.ELECTION_TIMEOUT_MAX_MS;

    private static final Logger log = LoggerFactory.getLogger(TermWatch.class);

    private final RaftServer ratis;
    private final RaftGroupId group;
    private final BooleanSupplier isOpen;
    private final Supplier<TransferLeadershipRequest> stepDown;
    private final Consumer<Runnable> later;

    /**
     * Creates a watch of the terms of a server.
     *
     * @param isOpen whether the server is still in use
     * @param stepDown creates the request with which the server gives its leadership up
     * @param later runs a check after {@link #CHECK_MS}
     */
    TermWatch(
            RaftServer ratis,
            RaftGroupId group,
            BooleanSupplier isOpen,
            Supplier<TransferLeadershipRequest> stepDown,
            Consumer<Runnable> later) {
        this.ratis = ratis;
        this.group = group;
        this.isOpen = isOpen;
        this.stepDown = stepDown;
        this.later = later;
    }

    /** The server was elected. */
    void begin() {
        later.accept(() -> check(null));
    }

    /** @param before what the other voters had acknowledged at the last look; null at the first one */
    private void check(long[] before) {
        try {
            RaftServer.Division division = ratis.getDivision(group);
            DivisionInfo info = division.getInfo();
            if (!isOpen.getAsBoolean() || !info.isLeader() || info.isLeaderReady()) {
                return;
            }
            long[] acknowledged = info.getFollowerMatchIndices();
            if (Arrays.equals(acknowledged, before) && !isCommitted(division) && isSent(division)) {
                log.warn("the term of this broker as the controller does not begin, another broker is elected");
                var unused = ratis.transferLeadershipAsync(stepDown.get());
            }
            later.accept(() -> check(acknowledged));
        } catch (IOException closed) {
            log.debug("the server of the metadata quorum is closed", closed);
        }
    }

    /** Whether an entry of the term is committed, so that it only has to be applied. */
    private static boolean isCommitted(RaftServer.Division division) {
        RaftLog entries = division.getRaftLog();
        TermIndex last = entries.getTermIndex(entries.getLastCommittedIndex());
        return last != null && last.getTerm() == division.getInfo().getCurrentTerm();
    }

    /** Whether a majority was sent everything. Others may still receive older entries, or a snapshot. */
    private static boolean isSent(RaftServer.Division division) {
        long[] next = division.getInfo().getFollowerNextIndices();
        long end = division.getRaftLog().getNextIndex();
        long whole = 1 + Arrays.stream(next).filter(index -> index >= end).count();
        return next.length > 0 && 2 * whole > 1 + next.length;
    }
}
