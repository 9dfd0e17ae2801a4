package io.journalq.common.record;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * How brokers and clients recognize records of the end-to-end encryption JQE1, without keys. A record header contains the
 * envelope, which begins with a magic text and the mode.
 */
public final class SealMark {
    /** The name of the record header that contains the envelope. */
    public static final String HEADER = "jqe1";

    /** The text at the beginning of an envelope. */
    public static final String MAGIC = "JQE1";

    /** The mode of a batch that is sealed as one piece: its first record contains everything, the others are empty. */
    public static final int BATCH = 1;

    /** The mode of a record whose value is sealed. */
    public static final int RECORD = 2;

    /** The mode of a record whose value and key are sealed, with a token instead of the key. */
    public static final int TOKEN = 3;

    /** The mode of a record whose value is sealed with a key of its own subject. */
    public static final int SUBJECT = 4;

    /** No envelope, or more than one. */
    static final int NONE = 0;

    static final byte[] HEADER_BYTES = HEADER.getBytes(US_ASCII);
    static final byte[] MAGIC_BYTES = MAGIC.getBytes(US_ASCII);

    private SealMark() {}
}
