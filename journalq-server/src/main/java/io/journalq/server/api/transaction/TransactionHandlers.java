package io.journalq.server.api.transaction;

import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.data.TransactionGate;
import io.journalq.server.api.group.CoordinatorTopic;
import io.journalq.server.api.group.GroupRefusals;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.coordinator.transaction.ProducerIds;
import io.journalq.server.transaction.TransactionMachine;
import java.util.function.Supplier;

/** Registers the handlers of the APIs of idempotent producers and transactions. */
public final class TransactionHandlers {
    private TransactionHandlers() {}

    /**
     * Registers the handlers.
     *
     * @param gate admits offsets in transactions
     * @param groupsTopic is created for the first group in a transaction
     */
    public static void register(
            HandlerRegistry registry,
            Supplier<MetadataImage> images,
            ProducerIds producerIds,
            Coordinators<TransactionMachine> transactions,
            TransactionGate gate,
            Coordinators<GroupMachine> groups,
            CoordinatorTopic groupsTopic,
            RefusalLog refusals) {
        registry.register(new InitProducerIdHandler(producerIds, transactions, refusals));
        registry.register(new AddPartitionsToTxnHandler(transactions, images));
        registry.register(new AddOffsetsToTxnHandler(transactions, groups, groupsTopic));
        registry.register(new EndTxnHandler(transactions));
        registry.register(new TxnOffsetCommitHandler(gate, groups, images, new GroupRefusals(refusals)));
        registry.register(new DescribeTransactionsHandler(transactions));
        registry.register(new ListTransactionsHandler(transactions, refusals));
    }
}
