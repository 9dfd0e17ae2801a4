package io.journalq.quorum;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLogCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proposes batches to the Ratis server of this broker, one at a time, and says what has become of them. Any thread. Ratis
 * threads complete the results.
 *
 * <p>If connections break after the other voters have an entry, and before their acknowledgements arrive, Ratis does not
 * send it again, and heartbeats do not acknowledge it: it is committed only with a later entry (RATIS-976). So another
 * entry with the same batch is added if one is not committed soon. The voters drop it.
 */
final class MetadataProposals {
    private static final Logger log = LoggerFactory.getLogger(MetadataProposals.class);

    /** Time after which an entry is added to one that is not committed yet. Committing usually takes a few milliseconds. */
    private static final int FIRST_REPEAT_MS = 500;

    /** Time until another one is added. Ratis looks only after a pause whether a leader has lost its majority. */
    private static final int REPEAT_MS = 2 * RatisSettings.ELECTION_TIMEOUT_MAX_MS;

    private final Function<Message, RaftClientRequest> requests;
    private final Clock clock;
    private final ByteBufAllocator allocator;
    private final ScheduledExecutorService background;
    private final AtomicReference<Proposal> inFlight = new AtomicReference<>();

    /** A batch that may or may not be committed. */
    private record Proposal(Message batch, CompletableFuture<Void> result) {
        void fail(String reason, Throwable cause) {
            result.completeExceptionally(new IOException(reason, cause));
        }
    }

    /**
     * Nothing is proposed yet.
     *
     * @param requests creates a new request that writes a batch
     * @param background repeats proposals; nothing is repeated any more when it is shut down
     */
    MetadataProposals(
            Function<Message, RaftClientRequest> requests,
            Clock clock,
            ByteBufAllocator allocator,
            ScheduledExecutorService background) {
        this.requests = requests;
        this.clock = clock;
        this.allocator = allocator;
        this.background = background;
    }

    /**
     * Proposes a batch.
     *
     * @param in the server, which leads in {@code term}
     * @param applied the metadata that the batch changes
     * @param onNotLeader called if the server does not lead any more
     * @return completed when the batch is applied; fails if it is not, or if that is not known
     */
    CompletableFuture<Void> propose(
            RaftServer in, MetadataBatch batch, int term, AppliedMetadata applied, Runnable onNotLeader) {
        byte[] content = encode(batch, term, applied.level());
        if (content.length > RatisSettings.MAX_BATCH_BYTES) {
            return CompletableFuture.failedFuture(new IOException("a metadata batch of " + content.length
                    + " bytes exceeds the limit of " + RatisSettings.MAX_BATCH_BYTES + " bytes"));
        }
        CompletableFuture<Void> result = new CompletableFuture<>();
        Proposal proposal = new Proposal(Message.valueOf(UnsafeByteOperations.unsafeWrap(content)), result);
        if (!inFlight.compareAndSet(null, proposal)) {
            return CompletableFuture.failedFuture(new IllegalStateException("a metadata proposal is in flight"));
        }
        try {
            var unused = in.submitClientRequestAsync(requests.apply(proposal.batch()))
                    .whenComplete((reply, failed) -> {
                        if (reply != null && reply.getNotLeaderException() != null) {
                            onNotLeader.run();
                        }
                        settle(proposal, batch.baseOffset(), applied, reply, failed);
                    });
        } catch (IOException notRunning) {
            settle(proposal, batch.baseOffset(), applied, null, notRunning);
        }
        repeatLater(in, result, FIRST_REPEAT_MS);
        return result;
    }

    private byte[] encode(MetadataBatch batch, int epoch, int level) {
        ByteBuf encoded = MetadataLogCodec.batch(batch.records(), level, clock.millis(), allocator);
        try {
            RecordBatch.setBaseOffset(encoded, encoded.readerIndex(), batch.baseOffset());
            RecordBatch.setLeaderEpoch(encoded, encoded.readerIndex(), epoch);
            byte[] content = new byte[encoded.readableBytes()];
            encoded.readBytes(content);
            return content;
        } finally {
            encoded.release();
        }
    }

    /** The task keeps the result only, not the batch: most have been committed long before. */
    private void repeatLater(RaftServer in, CompletableFuture<Void> result, int delayMs) {
        try {
            var unused = background.schedule(() -> repeat(in, result), delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closing) {
            log.debug("the metadata log is closed", closing);
        }
    }

    private void repeat(RaftServer in, CompletableFuture<Void> result) {
        Proposal proposal = inFlight.get();
        if (proposal == null || proposal.result() != result) {
            return;
        }
        log.info("a metadata batch is not committed yet, adding another entry");
        try {
            var unused = in.submitClientRequestAsync(requests.apply(proposal.batch()));
        } catch (IOException closing) {
            log.debug("the server of the metadata quorum is closed", closing);
        }
        repeatLater(in, result, REPEAT_MS);
    }

    private void settle(
            Proposal proposal, long baseOffset, AppliedMetadata applied, RaftClientReply reply, Throwable failed) {
        inFlight.compareAndSet(proposal, null);
        Throwable cause = failed == null && !reply.isSuccess() ? reply.getException() : failed;
        if (cause != null) {
            proposal.fail(
                    "the metadata quorum may or may not commit the batch for offset " + baseOffset + ": "
                            + cause.getMessage(),
                    cause);
        } else if (reply.getMessage().getContent().equals(MetadataStateMachine.APPLIED.getContent())) {
            proposal.result().complete(null);
        } else if (reply.getMessage().getContent().equals(MetadataStateMachine.LEFT_TO_NEXT.getContent())) {
            proposal.fail(
                    "the batch for offset " + baseOffset
                            + " is committed, and not applied, because the server of the metadata quorum is being closed",
                    null);
        } else {
            proposal.fail(
                    "a batch for offset " + baseOffset + " does not fit the metadata log, which ends at offset "
                            + applied.endOffset(),
                    null);
        }
    }

    /** Fails the proposal whose outcome is not known, if there is one. */
    void fail(String reason) {
        Proposal proposal = inFlight.getAndSet(null);
        if (proposal != null) {
            proposal.fail("the metadata quorum may or may not commit the batch in flight: " + reason, null);
        }
    }
}
