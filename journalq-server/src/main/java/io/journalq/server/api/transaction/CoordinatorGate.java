package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.data.TransactionGate;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import java.util.function.Consumer;

/**
 * Admits records through the coordinators of transactions. The caller continues on the coordinator's loop with {@link
 * io.journalq.server.loop.LoopCycle#execute}. The markers of the transaction are passed in the same way, and therefore
 * arrive later. Any thread.
 */
public final class CoordinatorGate implements TransactionGate {
    private final Coordinators<TransactionMachine> transactions;

    public CoordinatorGate(Coordinators<TransactionMachine> transactions) {
        this.transactions = transactions;
    }

    @Override
    public void admit(Request request, Consumer<ErrorCode> decided) {
        ProducerClaim claim =
                new ProducerClaim(request.transactionalId(), request.producerId(), request.producerEpoch());
        transactions.submit(
                claim.transactionalId(),
                (machine, nowMs, replies) -> {
                    Reply<ErrorCode> reply = replies.to(decided, decided);
                    if (request.addMissing()) {
                        machine.onProduce(claim, request.partitions(), nowMs, reply);
                    } else {
                        machine.onVerify(claim, request.partitions(), reply);
                    }
                },
                decided);
    }
}
