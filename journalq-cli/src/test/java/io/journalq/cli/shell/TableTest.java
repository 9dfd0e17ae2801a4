package io.journalq.cli.shell;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.Test;

class TableTest {
    @Test
    void shouldShowNoControlCharactersAndOneLineForEachRow() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, new ByteArrayOutputStream(), "");

        new Table("GROUP", "STATE")
                .row("a\u001b]0;b\u0007", "Empty")
                .row("c\nd\u009b", "Stable")
                .row("grün", null)
                .printTo(terminal);
        terminal.flush();

        assertThat(out.toString(UTF_8).lines())
                .containsExactly("GROUP    STATE", "a.]0;b.  Empty", "c.d.     Stable", "grün     -");
    }
}
