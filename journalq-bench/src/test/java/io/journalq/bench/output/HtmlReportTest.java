package io.journalq.bench.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HtmlReportTest {
    @TempDir
    private Path directory;

    private String page(List<Map<String, Object>> rows) throws IOException {
        Path file = directory.resolve("page.html");
        new HtmlReport("Title").table(rows).write(file);
        return Files.readString(file);
    }

    private static Map<String, Object> row(String broker, int columns) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker);
        row.put("message_size", 1_024);
        for (int i = 0; i < columns; i++) {
            row.put("value_" + i, broker + i);
        }
        return row;
    }

    @Test
    void shouldListValuesBelowTheTableWhenTheyAreTheSameInAllRows() throws IOException {
        String page = page(List.of(row("a", 2), row("b", 2)));

        assertThat(page)
                .contains("<tr><th>broker</th><th>value 0</th><th>value 1</th></tr>")
                .contains("<dt>message size</dt><dd>1024</dd>");
    }

    @Test
    void shouldPutRowsSideBySideWhenThereAreMoreColumnsThanAPageHolds() throws IOException {
        String page = page(List.of(row("a", 30), row("b", 30)));

        assertThat(page).contains("<tr><th>value 29</th><td>a29</td><td>b29</td></tr>");
    }

    @Test
    void shouldKeepALinePerRowWhenThereAreManyRows() throws IOException {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            rows.add(row("b" + i, 30));
        }

        assertThat(page(rows)).contains("<tr><td>b3</td><td>b30</td>");
    }
}
