package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.MetadataMachine;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class OperationQueueTest {
    private static final int SELF = ControllerFixture.NODE;
    private static final int OTHER = 2;
    private static final int ROUNDS = 10_000;
    private static final int LONGEST_SPIN = 16;

    private final HeldThread thread = new HeldThread();
    private ElectedLog log;
    private OperationQueue operations;

    /** The thread of a controller, which can be kept from beginning the next task. */
    private static final class HeldThread extends ThreadPoolExecutor {
        private volatile boolean holds;
        private volatile boolean held;

        HeldThread() {
            super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        protected void beforeExecute(Thread worker, Runnable task) {
            held = true;
            while (holds) {
                Thread.onSpinWait();
            }
            held = false;
        }
    }

    @BeforeEach
    void start() throws IOException {
        Journal journal = Journal.openWhole(
                new MemoryFileStore(), Path.of("metadata-0"), LocalMetadataLog.JOURNAL_CONFIG, Runnable::run);
        log = new ElectedLog(new LocalMetadataLog(SELF, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT));
        MetadataReplica replica = new MetadataReplica(
                new MetadataMachine(ControllerFixture.LIMITS), new MetadataPublisher(Runnable::run));
        operations = new OperationQueue(replica, log, thread);
        operations.start(clusterId -> {}, () -> new Uuid(1, 1)).join();
    }

    @AfterEach
    void close() throws IOException {
        thread.holds = false;
        operations.close();
    }

    /** Two threads meet in a few nanoseconds, so that this takes many rounds to see. */
    @Test
    @Tag("long")
    void shouldStayFailedWhenTheLogFailsWhileATermThatIsOverBegins() throws Exception {
        for (int round = 1; round <= ROUNDS; round++) {
            // given a term that is over before this broker begins it
            thread.holds = true;
            log.elect(SELF, 2 * round, SELF);
            log.elect(OTHER, 2 * round + 1, SELF);
            while (!thread.held) {
                Thread.onSpinWait();
            }

            // when
            thread.holds = false;
            for (int spin = round % LONGEST_SPIN; spin > 0; spin--) {
                Thread.onSpinWait();
            }
            log.fail();

            // then operations fail because of the log, not because another broker is the controller
            String result = operations
                    .submitUnpublished(draft -> "committed", decided -> "failed")
                    .get(20, TimeUnit.SECONDS);
            assertThat(result).isEqualTo("failed");
        }
    }
}
