package io.journalq.server.metadata;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.ClusterDecider.Kept;
import java.util.List;

/**
 * Decides whether a process of a broker can be registered, and what its disks still have. A decision changes nothing. One
 * thread.
 */
public final class RegistrationDecider {
    /** Instead of the epoch of a registration that is not known. */
    private static final long UNKNOWN_EPOCH = -1;

    private final MetadataState state;

    RegistrationDecider(MetadataState state) {
        this.state = state;
    }

    /**
     * Registers a broker. A registration that is already known is not repeated.
     *
     * <p>In a cluster, each process of a broker registers before it opens its partitions. It is fenced until it has
     * opened them: the partitions that its last process led get other leaders or none, and so new leader epochs. A broker
     * that is alone registers when it can serve clients. Nothing depends on its process, so that a start needs no write
     * if the rest of the registration is known.
     *
     * <p>A broker that has lost its disks comes back at the same address, with other ones.
     *
     * <p>A process that names an earlier registration than that of a live process is refused with
     * {@link ErrorCode#STALE_BROKER_EPOCH}. Usually it ended before that one registered, and its request was late. If it
     * runs, its disks are older, and it repeats the request until the live process is fenced. The controller's own
     * process is never refused: no other broker would fence the one before it.
     *
     * @param previousEpoch the last registration of the broker, if it still has everything that it had acknowledged since
     *     then; {@link BrokerRegistration#afterPowerLoss} of it if it still has what was on its disks; otherwise -1
     */
    public Decision register(BrokerRegistration registration, long previousEpoch) {
        boolean inCluster = state.controller().isElected();
        BrokerImage known = state.brokers().find(registration.nodeId());
        if (known != null && isSame(known.registration(), registration, inCluster) && (inCluster || known.isLive())) {
            return Decision.append(List.of());
        }
        if (inCluster
                && known != null
                && known.registration().isOfOtherDisks(registration)
                && (known.isLive() || !known.registration().sharesAddress(registration))) {
            return Decision.refuse(
                    ErrorCode.DUPLICATE_BROKER_REGISTRATION,
                    "node id " + registration.nodeId() + " belongs to another broker of the cluster; choose another"
                            + " node.id, or the listeners of that broker to replace it");
        }
        if (inCluster && known != null && isOfEarlierProcess(known, previousEpoch)) {
            return Decision.refuseStale(registration.nodeId(), noted(previousEpoch));
        }
        long servedEpoch = inCluster && known != null ? known.servedEpoch() : state.version();
        BrokerImage registered = new BrokerImage(registration, state.version(), servedEpoch, inCluster, false, false);
        return inCluster
                ? new ClusterDecider(state)
                        .register(registered, known == null ? Kept.ALL : kept(known, registration, previousEpoch))
                : Decision.append(List.of(MetadataSnapshot.brokerRecord(registered)));
    }

    /**
     * Records are lost with the data directories in which they were. A process can end before it has noted its
     * registration. The next one then names an earlier registration, and has lost nothing if none has served since then.
     */
    private static Kept kept(BrokerImage known, BrokerRegistration registration, long previousEpoch) {
        if (!registration.logDirectories().containsAll(known.registration().logDirectories())) {
            return Kept.NOTHING;
        }
        long noted = noted(previousEpoch);
        if (noted < known.servedEpoch() || noted > known.epoch()) {
            return Kept.NOTHING;
        }
        return isAfterPowerLoss(previousEpoch) ? Kept.SYNCED : Kept.ALL;
    }

    /**
     * Whether a process registers that cannot have followed a live one on the same disks: a process notes its
     * registration before it is unfenced, and the next one names it. A process that knows no registration is new in the
     * cluster, so that nothing is known about the order.
     */
    private boolean isOfEarlierProcess(BrokerImage known, long previousEpoch) {
        long noted = noted(previousEpoch);
        return known.isLive()
                && known.nodeId() != state.controller().nodeId()
                && noted != UNKNOWN_EPOCH
                && noted < known.epoch();
    }

    private static boolean isAfterPowerLoss(long previousEpoch) {
        return previousEpoch < UNKNOWN_EPOCH;
    }

    /** The registration that a process names. A number that is no epoch stands for the one from which it was made. */
    private static long noted(long previousEpoch) {
        return isAfterPowerLoss(previousEpoch) ? BrokerRegistration.afterPowerLoss(previousEpoch) : previousEpoch;
    }

    private static boolean isSame(BrokerRegistration known, BrokerRegistration other, boolean sameProcess) {
        return sameProcess ? known.equals(other) : known.matches(other);
    }
}
