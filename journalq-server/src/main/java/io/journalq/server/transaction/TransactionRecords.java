package io.journalq.server.transaction;

import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.transaction.record.TransactionLogKey;
import io.journalq.server.transaction.record.TransactionLogValue;

/** The record types of transactions: formats and type numbers are those of Apache Kafka's transaction log. */
public final class TransactionRecords {
    public static final RecordTypes TYPES = RecordTypes.of(new RecordTypes.Type(
            (short) 0, TransactionLogKey.class, TransactionLogKey::read, TransactionLogValue::read, (short) 1));

    private TransactionRecords() {}
}
