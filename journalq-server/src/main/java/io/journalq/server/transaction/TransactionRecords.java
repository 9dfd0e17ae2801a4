package io.journalq.server.transaction;

import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.transaction.record.TransactionLogKey;
import io.journalq.server.transaction.record.TransactionLogValue;

/** The records of transactions: layout and numbers are those of the protocol's own transaction log. */
public final class TransactionRecords {
    public static final RecordTypes TYPES = RecordTypes.of(new RecordTypes.Type(
            (short) 0, TransactionLogKey.class, TransactionLogKey::read, TransactionLogValue::read, (short) 1));

    private TransactionRecords() {}
}
