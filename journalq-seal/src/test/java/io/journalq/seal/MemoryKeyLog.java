package io.journalq.seal;

import io.journalq.client.seal.KeyLog;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The topics of keys in memory, which a test can change as a hostile broker would. */
final class MemoryKeyLog implements KeyLog {
    final Map<String, List<Entry>> topics = new HashMap<>();

    @Override
    public synchronized long append(String topic, byte[] key, byte[] value) {
        List<Entry> entries = entries(topic);
        entries.add(new Entry(entries.size(), key, value));
        return entries.size() - 1L;
    }

    @Override
    public synchronized Entry read(String topic, long offset) {
        List<Entry> entries = entries(topic);
        return offset < entries.size() ? entries.get((int) offset) : null;
    }

    @Override
    public synchronized void readAll(String topic, Consumer<Entry> each) {
        List.copyOf(entries(topic)).forEach(each);
    }

    List<Entry> entries(String topic) {
        return topics.computeIfAbsent(topic, name -> new ArrayList<>());
    }
}
