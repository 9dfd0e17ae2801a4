package io.journalq.bench.output;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A page that contains its charts and styles, and needs no other files. One thread. */
public final class HtmlReport {
    private static final String STYLE = "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;"
            + "padding:0 1em;color:#222}table{border-collapse:collapse;font-size:12px;margin:1em 0}"
            + "td,th{border:1px solid #ddd;padding:2px 5px;text-align:right;overflow-wrap:anywhere}"
            + "th{background:#f4f4f4}figure{margin:1em 0}svg{max-width:100%;height:auto}"
            + "figcaption{font-weight:600}.narrow{display:none}"
            + "dl{font-size:13px}dt{font-weight:600}dd{margin:0 0 .4em 1em;overflow-wrap:anywhere}"
            // On a phone, a row is a list of its values, and charts are drawn again for its width.
            + "@media(max-width:760px){body{margin:1em auto}.wide,.rows tr:first-child{display:none}"
            + ".narrow,.rows tbody,.rows tr,.rows td{display:block}.rows tr{margin:0 0 1em}"
            + ".rows td{display:flex;justify-content:space-between;gap:1em;font-size:13px}"
            + ".rows td::before{content:attr(data-name);font-weight:600;text-align:left}}";

    /** A table with more columns does not fit a page. */
    private static final int ROOMY_COLUMNS = 12;

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
                .append(escaped(ColumnName.inWords(name)))
                .append("</dt><dd>")
                .append(escaped(ColumnName.textForPeople(name, value)))
                .append("</dd>\n"));
        body.append("</dl>\n");
        return this;
    }

    /** Adds a chart in two widths, with its title as text. The page shows the width that fits. */
    public HtmlReport chart(Chart chart) {
        body.append("<figure><figcaption>")
                .append(escaped(chart.title()))
                .append("</figcaption><div class=\"wide\">")
                .append(chart.svg())
                .append("</div><div class=\"narrow\">")
                .append(escaped(chart.yTitle()))
                .append(chart.narrowSvg())
                .append("</div></figure>\n");
        return this;
    }

    /**
     * Adds a table. All rows have the same names in the same order. Values that are the same in all rows are listed below
     * the table, because a table with every column is wider than a page.
     */
    public HtmlReport table(List<Map<String, Object>> rows) {
        if (rows.isEmpty()) {
            return this;
        }
        Map<String, Object> common = new LinkedHashMap<>();
        if (rows.size() > 1) {
            rows.get(0).forEach((name, value) -> {
                if (rows.stream().allMatch(row -> Objects.equals(row.get(name), value))) {
                    common.put(name, value);
                }
            });
        }
        List<Map<String, Object>> distinct = rows.stream()
                .map(row -> {
                    Map<String, Object> left = new LinkedHashMap<>(row);
                    left.keySet().removeAll(common.keySet());
                    return left;
                })
                .toList();
        if (rows.size() <= ROOMY_COLUMNS && distinct.get(0).size() > ROOMY_COLUMNS) {
            tableWithRowsAsColumns(distinct);
            tableOf(distinct, "rows narrow");
        } else {
            tableOf(distinct, "rows");
        }
        return common.isEmpty() ? this : about(common);
    }

    private void tableWithRowsAsColumns(List<Map<String, Object>> rows) {
        body.append("<table class=\"wide\">");
        for (String name : rows.get(0).keySet()) {
            body.append("<tr><th>").append(escaped(ColumnName.inWords(name))).append("</th>");
            rows.forEach(row -> cell(name, row.get(name)));
            body.append("</tr>\n");
        }
        body.append("</table>\n");
    }

    private void tableOf(List<Map<String, Object>> rows, String styles) {
        body.append("<table class=\"").append(styles).append("\"><tr>");
        rows.get(0).keySet().forEach(name -> body.append("<th>")
                .append(escaped(ColumnName.inWords(name)))
                .append("</th>"));
        body.append("</tr>\n");
        for (Map<String, Object> row : rows) {
            body.append("<tr>");
            row.forEach(this::cell);
            body.append("</tr>\n");
        }
        body.append("</table>\n");
    }

    private void cell(String name, Object value) {
        body.append("<td data-name=\"")
                .append(escaped(ColumnName.inWords(name)))
                .append("\">")
                .append(value == null ? "" : escaped(ColumnName.textForPeople(name, value)))
                .append("</td>");
    }

    public void write(Path file) {
        try {
            Files.writeString(
                    file,
                    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>"
                            + escaped(title) + "</title><style>" + STYLE + "</style></head>\n<body>\n" + body
                            + "</body></html>\n");
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
