package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.Controller;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.BrokerImage;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps this broker unfenced in its cluster: sends heartbeats to the active controller, and registers the process again
 * if the controller has lost it. Also lets the time pass for the controller of this broker. Runs on one loop; any thread
 * may call it.
 */
final class BrokerSupervisor {
    private static final Logger log = LoggerFactory.getLogger(BrokerSupervisor.class);
    private static final long NOT_REGISTERED = -1;
    /** Time until the next heartbeat if there is no controller. */
    private static final int RETRY_MS = 100;
    /** Time between heartbeats of a broker that waits for others to take over. */
    private static final int LEAVING_MS = 50;
    /** A broker that leaves does not wait longer for a controller. */
    private static final long NO_CONTROLLER_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** For so long nobody responds to heartbeats before this broker asks to be the controller. */
    private static final long TAKE_OVER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final BrokerLifecycle lifecycle;
    private final MetadataPublisher metadata;
    private final ControllerOperations activeController;
    private final Loop loop;
    private final int intervalMs;
    private final CompletableFuture<Void> left = new CompletableFuture<>();

    /** Null until this broker serves. */
    private Controller own;
    /** When the active controller has last responded. */
    private long heardNanos;

    private boolean serving;
    private boolean leaving;
    private long leavingNanos;
    private boolean waiting;
    private boolean timed;
    private boolean fenced = true;
    /** Partitions whose replica here has lost acknowledged records, until the controller knows it. */
    private volatile Map<Uuid, List<Integer>> incomplete = Map.of();

    private volatile Supplier<CompletableFuture<Void>> onReported;
    /** Null until this broker serves. */
    private FailedReplicas failed;
    /** The data directories without room. Null until this broker serves. */
    private Supplier<List<Uuid>> full;

    /** Whether the controller has not responded to a report of failed replicas yet. */
    private boolean reporting;

    private volatile boolean stopped;
    /** Whether this broker cannot follow the metadata any more, so that others must lead what it leads. */
    private volatile boolean disabled;
    /** Fails then. */
    private final CompletableFuture<Void> following = new CompletableFuture<>();

    /**
     * Creates a supervisor that sends nothing yet.
     *
     * @param loop measures the time
     * @param intervalMs time between heartbeats
     */
    BrokerSupervisor(
            BrokerLifecycle lifecycle,
            MetadataPublisher metadata,
            ControllerOperations activeController,
            Loop loop,
            int intervalMs) {
        this.lifecycle = lifecycle;
        this.metadata = metadata;
        this.activeController = activeController;
        this.loop = loop;
        this.intervalMs = intervalMs;
    }

    /**
     * Sets which replicas have lost acknowledged records. The controller is told before it can unfence this broker.
     *
     * @param numbers of the partitions, by topic id
     * @param onReported called when the controller knows it. If that fails, it is told again
     */
    void setIncomplete(Map<Uuid, List<Integer>> numbers, Supplier<CompletableFuture<Void>> onReported) {
        this.onReported = onReported;
        incomplete = numbers;
    }

    /** The metadata of this broker stay as they are until a restart. It asks to be fenced, and stays it. Any thread. */
    void disable() {
        disabled = true;
        following.completeExceptionally(
                new IOException("this broker cannot follow the metadata of its cluster any more; its log says why"));
    }

    /**
     * Asks to be unfenced, and stays it.
     *
     * @param controller of this broker, which other brokers can reach from now on
     * @param failedReplicas are reported to the active controller while others can take over
     * @param fullDirectories ids of the data directories without room
     * @return completed when the metadata of this broker says that it is unfenced; fails if that cannot happen any more
     */
    CompletableFuture<Void> serve(
            Controller controller, FailedReplicas failedReplicas, Supplier<List<Uuid>> fullDirectories) {
        execute(() -> {
            serving = true;
            failed = failedReplicas;
            full = fullDirectories;
            own = controller;
            heardNanos = loop.nanoTime();
            drive();
            beat();
        });
        CompletableFuture<Void> unfenced = metadata.whenPublished(image -> {
                    BrokerImage self = lifecycle.registered(image);
                    return self != null && self.isLive();
                })
                .thenAccept(image -> log.info("this broker is unfenced"));
        return CompletableFuture.anyOf(following, unfenced).thenAccept(served -> {});
    }

    /** Lets the time pass for the controller. It must not miss heartbeats only because nobody can reach it. */
    private void drive() {
        if (!stopped) {
            own.tick();
            after(Controller.TICK_MS, this::drive);
        }
    }

    /**
     * Lets other brokers take over what this one leads.
     *
     * @param timeoutMs longest time to wait for that
     * @return completed when this broker may stop
     */
    CompletableFuture<Void> leave(long timeoutMs) {
        execute(() -> {
            if (!serving) {
                left.complete(null);
                return;
            }
            leaving = true;
            leavingNanos = loop.nanoTime();
            timed = false; // The next heartbeat does not wait for the timer of the last one.
            after(timeoutMs, () -> left.complete(null));
            beat();
        });
        return left;
    }

    /** Sends nothing more. */
    void stop() {
        stopped = true;
        left.complete(null);
    }

    private void execute(Runnable work) {
        try {
            loop.execute(work);
        } catch (RejectedExecutionException closed) {
            stop();
        }
    }

    private void after(long delayMs, Runnable work) {
        try {
            var unused = loop.schedule(work, delayMs);
        } catch (RejectedExecutionException closed) {
            stop();
        }
    }

    private void beatAfter(long delayMs) {
        if (!timed) {
            timed = true;
            after(delayMs, () -> {
                timed = false;
                beat();
            });
        }
    }

    private void beat() {
        if (stopped || waiting) {
            return;
        }
        waiting = true;
        BrokerImage self = lifecycle.registered(metadata.current());
        if (self == null) {
            registerAgain(NOT_REGISTERED);
            return;
        }
        if (!incomplete.isEmpty()) {
            reportIncomplete(self);
            return;
        }
        Map<Uuid, List<Integer>> replaceable = failed.replaceable(self.nodeId(), metadata.current());
        if (!replaceable.isEmpty() && !reporting) {
            reportFailed(self, replaceable);
        }
        sendHeartbeat(self);
    }

    /**
     * Heartbeats do not wait for the response. Otherwise, a controller that is busy would fence this broker. If it is
     * frozen, the next one would.
     */
    private void reportFailed(BrokerImage self, Map<Uuid, List<Integer>> partitions) {
        reporting = true;
        var unused = activeController
                .loseRecords(self.nodeId(), self.epoch(), partitions)
                .whenComplete((error, failure) -> execute(() -> {
                    reporting = false;
                    if (failure != null) {
                        log.debug("no controller has taken a report of failed replicas", failure);
                    } else if (error != ErrorCode.NONE) {
                        log.warn("the controller does not take the report of failed replicas: error={}", error);
                    }
                }));
    }

    private void sendHeartbeat(BrokerImage self) {
        long sentNanos = loop.nanoTime();
        var unused = activeController
                .heartbeat(new BrokerHeartbeat(
                        self.nodeId(), self.epoch(), metadata.current().version(), disabled, leaving, full.get()))
                .whenComplete((response, failure) -> execute(() -> {
                    waiting = false;
                    if (failure != null) {
                        onNoController(failure);
                    } else {
                        onResponse(response, self.epoch(), sentNanos);
                    }
                }));
    }

    private void reportIncomplete(BrokerImage self) {
        var unused = activeController
                .loseRecords(self.nodeId(), self.epoch(), incomplete)
                .whenComplete((error, failure) -> execute(() -> {
                    waiting = false;
                    if (failure != null) {
                        onNoController(failure);
                    } else if (error == ErrorCode.STALE_BROKER_EPOCH) {
                        waiting = true;
                        // A controller that was replaced and does not know it can say so of the newest registration.
                        registerAgain(NOT_REGISTERED);
                    } else if (error == ErrorCode.NONE) {
                        waiting = true;
                        forgetIncomplete();
                    } else {
                        log.warn("the controller does not take the report of lost records: error={}", error);
                        beatAfter(RETRY_MS);
                    }
                }));
    }

    /** Only then can this broker be unfenced: a replica that is in sync again must not be reported by a later process. */
    private void forgetIncomplete() {
        var unused = onReported
                .get()
                .whenComplete((done, failure) -> execute(() -> {
                    waiting = false;
                    if (failure == null) {
                        incomplete = Map.of();
                        beatAfter(1);
                    } else {
                        log.warn("cannot note that lost records were reported: reason=\"{}\"", failure.getMessage());
                        beatAfter(RETRY_MS);
                    }
                }));
    }

    private void onNoController(Throwable failure) {
        log.debug("no controller has taken a heartbeat", failure);
        if (leaving && loop.nanoTime() - leavingNanos > NO_CONTROLLER_NANOS) {
            log.warn("this broker stops without handing over what it leads: there is no controller");
            left.complete(null);
        }
        if (!leaving && !disabled && loop.nanoTime() - heardNanos > TAKE_OVER_NANOS) {
            heardNanos = loop.nanoTime(); // The next attempt is as much later.
            own.takeOver();
        }
        beatAfter(RETRY_MS);
    }

    private void onResponse(BrokerHeartbeat.Response response, long brokerEpoch, long sentNanos) {
        heardNanos = loop.nanoTime();
        if (response.error() == ErrorCode.STALE_BROKER_EPOCH) {
            waiting = true;
            registerAgain(brokerEpoch);
            return;
        }
        if (response.error() != ErrorCode.NONE) {
            log.warn("the controller refuses a heartbeat: error={}", response.error());
        } else if (response.fenced() != fenced) {
            fenced = response.fenced();
            if (fenced && !leaving && !disabled) {
                log.warn("this broker was fenced, because the controller has not heard from it in time");
            }
        }
        if (response.mayShutDown()) {
            left.complete(null);
            return;
        }
        long passedMs = TimeUnit.NANOSECONDS.toMillis(loop.nanoTime() - sentNanos);
        beatAfter(leaving ? LEAVING_MS : Math.max(1, intervalMs - passedMs));
    }

    /** A delayed registration of an earlier process has replaced that of this one. */
    private void registerAgain(long replacedEpoch) {
        if (disabled) {
            // It leads nothing, and would take the place of a process that can.
            waiting = false;
            if (leaving) {
                left.complete(null);
            }
            beatAfter(intervalMs);
            return;
        }
        log.warn("registering this broker again: another process of it has registered");
        var unused = CompletableFuture.anyOf(following, lifecycle.joinAgain(replacedEpoch))
                .whenComplete((image, failure) -> execute(() -> {
                    waiting = false;
                    if (failure != null) {
                        log.warn("cannot register this broker again: reason=\"{}\"", failure.getMessage());
                    }
                    beatAfter(failure == null ? 1 : RETRY_MS);
                }));
    }
}
