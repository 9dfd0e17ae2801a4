package io.journalq.bench.cli;

import io.journalq.bench.output.Output;
import io.journalq.bench.produce.Callers;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The table of produce cases for people, at most 80 columns wide. Stateless. */
final class ProduceSummary {
    private static final double US_PER_MS = 1e3;

    private ProduceSummary() {}

    /** A line for each case, then the reasons of failed checks, then the threads that sent. */
    static String of(List<ProduceResult> results) {
        List<Map<String, Object>> lines = new ArrayList<>();
        Map<String, List<String>> casesByCallers = new LinkedHashMap<>();
        for (ProduceResult result : results) {
            ProduceSettings settings = result.settings();
            String number = Integer.toString(settings.produceCase().number());
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("case", number + " " + settings.produceCase().words());
            line.put("msg/s", Math.round(result.measured().qps()));
            line.put("p50 ms", milliseconds(result.measured().latency().p50Us()));
            line.put("p99 ms", milliseconds(result.measured().latency().p99Us()));
            line.put("check", result.problem() == null ? "passed" : "FAILED");
            lines.add(line);
            casesByCallers
                    .computeIfAbsent(
                            settings.tuning().inWords(settings.produceCase().batched()), callers -> new ArrayList<>())
                    .add(number);
        }
        StringBuilder text = new StringBuilder(Output.listing(lines)).append(problems(results));
        casesByCallers.forEach((callers, cases) -> text.append(cases.size() == 1 ? "Case " : "Cases ")
                .append(String.join(", ", cases))
                .append(": ")
                .append(callers)
                .append('\n'));
        return text.append(withoutVirtualThreads(results)).toString();
    }

    /** A line for each case whose check failed. */
    static String problems(List<ProduceResult> results) {
        StringBuilder problems = new StringBuilder();
        for (ProduceResult result : results) {
            if (result.problem() != null) {
                problems.append("Case ")
                        .append(result.settings().produceCase().number())
                        .append(" failed: ")
                        .append(result.problem())
                        .append('\n');
            }
        }
        return problems.toString();
    }

    /** The number of threads decides the rate of synchronous sends, and platform threads cannot be as many. */
    private static String withoutVirtualThreads(List<ProduceResult> results) {
        boolean platform = results.stream()
                .map(ProduceResult::settings)
                .anyMatch(settings ->
                        !settings.produceCase().batched() && !settings.tuning().virtualThreads());
        if (!platform || Callers.virtualThreadsExist()) {
            return "";
        }
        return "JDK " + Callers.VIRTUAL_SINCE + " or newer has virtual threads: thousands of them wait at the same\n"
                + "time in cases 1 and 2, and share requests, at several times the rate.\n";
    }

    private static String milliseconds(double micros) {
        return String.format(Locale.ROOT, "%.2f", micros / US_PER_MS);
    }
}
