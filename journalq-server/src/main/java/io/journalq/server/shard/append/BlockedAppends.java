package io.journalq.server.shard.append;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.LogThrottle;
import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the order of one partition's appends. A batch that is too large for the loop is validated on a thread that may
 * block. Until then the appends behind it wait here, including markers. All appends wait while they are held. Waiting
 * appends belong to requests, whose number is limited. On the partition's loop.
 */
public final class BlockedAppends {
    private static final Logger log = LoggerFactory.getLogger(BlockedAppends.class);

    private static final LogThrottle SHORTAGES = new LogThrottle(log, 1);

    /** Maximum size of the appends admitted in one iteration of the loop. */
    private static final int MAX_ADMITTED_AT_ONCE_BYTES = 1 << 20;

    private final AppendResources resources;
    private final TopicPartition name;
    private final BatchAdmission admission;

    /**
     * The first append is being validated, is about to be admitted, or is held. Null until an append has to wait for the
     * first time.
     */
    private ArrayDeque<Append> waiting;

    private boolean held;

    /** Whether the first append is being validated. */
    private boolean validating;

    public BlockedAppends(AppendResources resources, TopicPartition name, BatchAdmission admission) {
        this.resources = resources;
        this.name = name;
        this.admission = admission;
    }

    /** Admits or rejects an append when it is its turn. */
    public void append(Append append) {
        if (held) {
            addWaiting(append);
        } else if (waiting != null && !waiting.isEmpty()) {
            if (!admission.refuses(append)) {
                waiting.add(append);
            }
        } else if (!admit(append)) {
            begin(append);
        }
    }

    /** Lets all appends wait until {@link #release}, even those that would be rejected now. */
    public void hold() {
        held = true;
    }

    /** Admits or rejects the appends that were held. */
    public void release() {
        held = false;
        if (waiting != null && !validating) {
            admitWaiting();
        }
    }

    private void begin(Append append) {
        addWaiting(append);
        validate(append);
    }

    private void addWaiting(Append append) {
        if (waiting == null) {
            waiting = new ArrayDeque<>(1);
        }
        waiting.add(append);
    }

    private void validate(Append append) {
        validating = true;
        OffLoopValidation validation = new OffLoopValidation(
                append, admission.settings(), resources.clock().millis());
        resources.cycle().counters().onValidatedOffLoop();
        resources.offLoopValidator().add(room -> {
            validation.accept(room);
            if (!resources.cycle().enqueue(() -> onValidated(validation))) {
                validation.drop();
            }
        });
    }

    private void onValidated(OffLoopValidation validation) {
        validating = false;
        try {
            admission.admit(validation);
        } catch (RuntimeException | Error failure) {
            giveUp(validation.append(), failure);
        }
        waiting.remove();
        admitWaiting();
    }

    private boolean admit(Append append) {
        try {
            return admission.admit(append);
        } catch (RuntimeException | Error failure) {
            giveUp(append, failure);
            return true;
        }
    }

    /**
     * Rejects an append because of a lack of memory or a defect. The appends behind it, and a sender on another loop,
     * must not wait forever.
     */
    private void giveUp(Append append, Throwable failure) {
        if (failure instanceof OutOfMemoryError) {
            SHORTAGES.warn("out of direct memory", "event loop", failure.getMessage());
        } else {
            log.error("cannot decide about a batch: partition={}", name, failure);
        }
        append.refuse(ErrorCode.KAFKA_STORAGE_ERROR, "the broker cannot append the batch");
    }

    private void admitWaiting() {
        int admittedBytes = 0;
        while (!waiting.isEmpty() && !held && !validating) {
            if (admittedBytes > MAX_ADMITTED_AT_ONCE_BYTES) {
                resources.cycle().enqueue(this::admitWaiting);
                return;
            }
            Append next = waiting.peek();
            if (!next.isAwaited()) {
                // Disconnected clients may have left thousands of appends behind.
                next.refuse(ErrorCode.NETWORK_EXCEPTION, null);
                waiting.remove();
                continue;
            }
            int sizeBytes = next.records() == null ? 0 : next.records().readableBytes();
            if (!admit(next)) {
                validate(next);
                return;
            }
            waiting.remove();
            admittedBytes += sizeBytes;
        }
    }
}
