package io.journalq.sim.world;

import java.util.Arrays;

/**
 * The events of one thread, by their time, and in the order in which they were added if they have the same time. A
 * binary heap of primitive values: comparing them is a large part of the time of a simulation.
 */
final class EventQueue {
    /** The time of no event. */
    static final long NEVER = Long.MAX_VALUE;

    private static final int FIRST_CAPACITY = 64;

    private long[] times = new long[FIRST_CAPACITY];
    private long[] numbers = new long[FIRST_CAPACITY];
    private Runnable[] works = new Runnable[FIRST_CAPACITY];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    /** When the first event is due; {@link #NEVER} if there is none. */
    long atNanos() {
        return size == 0 ? NEVER : times[0];
    }

    /** The number of the first event, which exists. */
    long number() {
        return numbers[0];
    }

    void add(long atNanos, long number, Runnable work) {
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            numbers = Arrays.copyOf(numbers, 2 * size);
            works = Arrays.copyOf(works, 2 * size);
        }
        int at = size++;
        while (at > 0) {
            int parent = (at - 1) / 2;
            if (!isBefore(atNanos, number, times[parent], numbers[parent])) {
                break;
            }
            move(parent, at);
            at = parent;
        }
        set(at, atNanos, number, work);
    }

    /** Removes the first event, which exists, and returns its work. */
    Runnable poll() {
        Runnable first = works[0];
        size--;
        long atNanos = times[size];
        long number = numbers[size];
        Runnable work = works[size];
        works[size] = null;
        if (size > 0) {
            int at = 0;
            for (int child = 1; child < size; child = 2 * at + 1) {
                int other = child + 1;
                if (other < size && isBefore(times[other], numbers[other], times[child], numbers[child])) {
                    child = other;
                }
                if (!isBefore(times[child], numbers[child], atNanos, number)) {
                    break;
                }
                move(child, at);
                at = child;
            }
            set(at, atNanos, number, work);
        }
        return first;
    }

    /** Whether the first event, which exists, is before the one of another queue. */
    boolean isBefore(EventQueue other) {
        return isBefore(times[0], numbers[0], other.times[0], other.numbers[0]);
    }

    void clear() {
        Arrays.fill(works, 0, size, null);
        size = 0;
    }

    static boolean isBefore(long atNanos, long number, long otherAtNanos, long otherNumber) {
        return atNanos != otherAtNanos ? atNanos < otherAtNanos : number < otherNumber;
    }

    private void move(int from, int to) {
        set(to, times[from], numbers[from], works[from]);
    }

    private void set(int at, long atNanos, long number, Runnable work) {
        times[at] = atNanos;
        numbers[at] = number;
        works[at] = work;
    }
}
