package io.journalq.server.memory;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** The maximum heap for each kind of state. Immutable; each {@link MemoryPart} keeps its own count. Any thread. */
public final class MemoryBudget {
    private final long heapBytes;
    private final Map<StatePart, MemoryPart> parts;

    private MemoryBudget(long heapBytes, Map<StatePart, MemoryPart> parts) {
        this.heapBytes = heapBytes;
        this.parts = Collections.unmodifiableMap(parts);
    }

    /**
     * A budget with nothing charged.
     *
     * @param heapBytes size of the heap; each default bound is a share of it
     * @param settings the bound of each part; 0 for its default share of the heap
     */
    public static MemoryBudget of(long heapBytes, ToLongFunction<StatePart> settings) {
        Map<StatePart, MemoryPart> parts = new EnumMap<>(StatePart.class);
        for (StatePart part : StatePart.values()) {
            long set = settings.applyAsLong(part);
            parts.put(part, new MemoryPart(part, set > 0 ? set : part.defaultBytes(heapBytes)));
        }
        return new MemoryBudget(heapBytes, parts);
    }

    public MemoryPart part(StatePart part) {
        return parts.get(part);
    }

    /** All parts. */
    public List<MemoryPart> parts() {
        return List.copyOf(parts.values());
    }

    /** The heap and the bound of every part, in bytes, for the log. */
    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        words.add("heapBytes=" + heapBytes);
        parts.forEach((part, counted) -> words.add(part.label() + "=" + counted.maxBytes()));
        return String.join(" ", words);
    }
}
