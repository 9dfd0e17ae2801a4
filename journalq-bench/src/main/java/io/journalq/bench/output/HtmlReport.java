package io.journalq.bench.output;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A page that contains its charts and styles, and needs no other files. One thread. */
public final class HtmlReport {
    private static final String STYLE = "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;"
            + "padding:0 1em;color:#222}table{border-collapse:collapse;font-size:13px}"
            + "td,th{border:1px solid #ddd;padding:3px 8px;text-align:right}th{background:#f4f4f4}"
            + "svg{max-width:100%;height:auto}dl{font-size:13px}dt{font-weight:600}dd{margin:0 0 .4em 1em}";

    private final StringBuilder body = new StringBuilder();
    private final String title;

    public HtmlReport(String title) {
        this.title = title;
        body.append("<h1>").append(escaped(title)).append("</h1>\n");
    }

    /** Adds values that apply to the whole page. */
    public HtmlReport about(Map<String, Object> values) {
        body.append("<dl>\n");
        values.forEach((name, value) -> body.append("<dt>")
                .append(escaped(name))
                .append("</dt><dd>")
                .append(escaped(String.valueOf(value)))
                .append("</dd>\n"));
        body.append("</dl>\n");
        return this;
    }

    /** Adds a chart with a label for screen readers, because the text in a chart is drawn as paths. */
    public HtmlReport chart(Chart chart) {
        body.append("<figure aria-label=\"").append(escaped(chart.title())).append("\">");
        body.append(chart.svg()).append("</figure>\n");
        return this;
    }

    /** Adds a table. All rows have the same names in the same order. */
    public HtmlReport table(List<Map<String, Object>> rows) {
        if (rows.isEmpty()) {
            return this;
        }
        body.append("<table><tr>");
        rows.get(0)
                .keySet()
                .forEach(name -> body.append("<th>").append(escaped(name)).append("</th>"));
        body.append("</tr>\n");
        for (Map<String, Object> row : rows) {
            body.append("<tr>");
            row.values().forEach(value -> body.append("<td>")
                    .append(value == null ? "" : escaped(String.valueOf(value)))
                    .append("</td>"));
            body.append("</tr>\n");
        }
        body.append("</table>\n");
        return this;
    }

    public void write(Path file) {
        try {
            Files.writeString(
                    file,
                    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title)
                            + "</title><style>" + STYLE + "</style></head>\n<body>\n" + body + "</body></html>\n");
        } catch (IOException e) {
            throw new BenchException("cannot write " + file, "use a writable directory", e);
        }
    }

    /** The text with characters that HTML reserves replaced. */
    public static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
