package io.journalq.sim.world;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.NotControllerException;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.control.PeerControllers;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** How one process of a simulated cluster reaches the controllers of the other machines: over the network. */
final class SimPeerControllers implements PeerControllers {
    private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);

    private final SimWorld world;
    private final SimMachine machine;
    private final SimProcess process;

    SimPeerControllers(SimWorld world, SimMachine machine) {
        this.world = world;
        this.machine = machine;
        this.process = machine.node().process();
    }

    @Override
    public void offer(ControllerOperations local) {
        machine.offer(local);
    }

    @Override
    public ControllerOperations of(int nodeId) {
        SimMachine target = world.machine(nodeId);
        // Nobody reaches a broker that still starts.
        return target == null || target.broker() == null ? null : new Remote(target);
    }

    /** The controller of another machine. */
    private final class Remote implements ControllerOperations {
        private final SimMachine target;

        Remote(SimMachine target) {
            this.target = target;
        }

        @Override
        public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
            long told = world.interference().onRegistration(previousEpoch);
            return call(controller -> controller.registerBroker(registration, told));
        }

        @Override
        public CompletableFuture<ErrorCode> loseRecords(
                int nodeId, long brokerEpoch, Map<Uuid, List<Integer>> partitions) {
            return world.interference().keepsQuietAboutLoss()
                    ? CompletableFuture.completedFuture(ErrorCode.NONE)
                    : call(controller -> controller.loseRecords(nodeId, brokerEpoch, partitions));
        }

        @Override
        public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
            return call(controller -> controller.heartbeat(heartbeat));
        }

        @Override
        public CompletableFuture<List<PartitionOutcome>> alterPartitions(
                int nodeId, long brokerEpoch, List<InSyncProposal> proposals) {
            return call(controller -> controller.alterPartitions(nodeId, brokerEpoch, proposals));
        }

        @Override
        public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
            return call(controller -> controller.createTopics(specs, validateOnly));
        }

        @Override
        public CompletableFuture<Long> allocateProducerIds(int count) {
            return call(controller -> controller.allocateProducerIds(count));
        }

        private <T> CompletableFuture<T> call(Function<ControllerOperations, CompletableFuture<T>> operation) {
            CompletableFuture<T> result = new CompletableFuture<>();
            ControllerOperations controller = target.controller();
            SimNetwork.Connection connection = world.network()
                    .connect(
                            machine.node().id(),
                            target.node().id(),
                            target.node().process(),
                            () -> fail(result, "the connection was reset"));
            connection.send(() -> {
                var unused = operation
                        .apply(controller)
                        .whenComplete((value, failure) -> connection.respond(() -> {
                            connection.close();
                            if (failure == null) {
                                process.after(Scheduler.Kind.POOL, 0, () -> result.complete(value));
                            } else {
                                fail(result, "the controller responds with an error: " + failure.getMessage());
                            }
                        }));
            });
            process.after(Scheduler.Kind.POOL, TIMEOUT_NANOS, () -> {
                connection.close();
                fail(result, "there is no response in time");
            });
            return result;
        }

        private void fail(CompletableFuture<?> result, String reason) {
            if (!result.isDone()) {
                process.after(
                        Scheduler.Kind.POOL, 0, () -> result.completeExceptionally(new NotControllerException(reason)));
            }
        }
    }
}
