package io.journalq.bench.compare;

import io.journalq.bench.produce.Tuning;
import java.util.List;

/**
 * The settings that one broker was found best at in one case with one kind of callers.
 *
 * @param benchCase number of the case
 * @param score messages a second that it reached when it was found
 * @param foundWith machine, JDK, commit and date
 * @param trials what was tried, in order, and what it gave
 */
public record Preset(String broker, int benchCase, Tuning tuning, long score, String foundWith, List<String> trials) {}
