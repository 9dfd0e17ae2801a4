package io.journalq.seal;

import io.journalq.common.record.SealMark;
import java.util.Locale;

/** What is sealed as one piece. The registry states the mode of each topic. */
public enum SealMode {
    /** A batch with keys, values, headers and times. Not for compacted topics, because the broker sees no keys. */
    BATCH(SealMark.BATCH),
    /**
     * The value and the headers of each record. Keys are not encrypted, so that the broker can compact the topic, and
     * tombstones are not sealed.
     */
    RECORD(SealMark.RECORD),
    /**
     * The key, the value and the headers of each record, also of tombstones. Instead of the key, the broker sees a token
     * of 128 bits ({@link TokenKey}), which is the same for equal keys, so that it can compact the topic.
     */
    TOKEN(SealMark.TOKEN),
    /**
     * As {@link #RECORD}, and each record can only be opened with the key of its subject as well, which its key names
     * ({@link SubjectKeys}). When that key is destroyed, the records of the subject become unreadable.
     */
    SUBJECT(SealMark.SUBJECT);

    private final int code;

    SealMode(int code) {
        this.code = code;
    }

    /** The number in envelopes. */
    int code() {
        return code;
    }

    /** Returns the mode with this number, or null if there is none. */
    static SealMode of(int code) {
        for (SealMode mode : values()) {
            if (mode.code == code) {
                return mode;
            }
        }
        return null;
    }

    /** The name in the registry. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
