package io.journalq.quorum;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs which voters do not respond to this broker while it is the controller: each at most once a minute. Any thread. */
final class SilentVoters {
    private static final Logger log = LoggerFactory.getLogger(SilentVoters.class);
    private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Map<RaftPeerId, Long> logged = new ConcurrentHashMap<>();

    /** Ratis calls this again and again while {@code voter} is silent. */
    void onSilence(RaftPeer voter) {
        if (isDue(voter.getId(), System.nanoTime())) {
            log.warn(
                    "a voter of the metadata quorum does not respond: node={} quorumAddress={} sinceAtLeastMs={}",
                    QuorumMembers.nodeId(voter.getId()),
                    voter.getAddress(),
                    RatisSettings.SILENT_AFTER_MS);
        }
    }

    boolean isDue(RaftPeerId voter, long nowNanos) {
        Long last = logged.get(voter);
        boolean due = last == null || nowNanos - last >= INTERVAL_NANOS;
        if (due) {
            logged.put(voter, nowNanos);
        }
        return due;
    }
}
