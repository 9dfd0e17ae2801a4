package io.journalq.codegen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is generated is held to kafka-clients in the module that uses it; here, when and what files are written. */
class GeneratorMainTest {
    private static final String SCHEMA =
            """
            // A comment, as the protocol's schemas have them.
            { "type": "data", "name": "ThingRecord", "validVersions": "0-1", "flexibleVersions": "0+", "fields": [
              { "name": "Size", "type": "int32", "versions": "0+", "about": "How <large> it is." },
              { "name": "Gone", "type": "int32", "versions": "5+" },
              { "name": "Parts", "type": "[]Part", "versions": "1+", "fields": [
                { "name": "Id", "type": "uuid", "versions": "1+" } ] }
            ] }
            """;

    @TempDir
    Path directory;

    private Path schemas;
    private Path output;

    @BeforeEach
    void setUp() throws IOException {
        schemas = Files.createDirectory(directory.resolve("schemas"));
        output = directory.resolve("output");
    }

    @Test
    void shouldWriteOneClassWhenThereIsOneSchema() throws Exception {
        // given
        Files.writeString(schemas.resolve("ThingRecord.json"), SCHEMA);

        // when
        generate();

        // then
        String source = Files.readString(thing());
        assertThat(source)
                .contains("package some.place;", "public final class ThingRecord implements Message {")
                .contains("public static final class Part {", "/** How &lt;large&gt; it is. */")
                .doesNotContain("gone");
    }

    @Test
    void shouldTouchNothingWhenNothingChanged() throws Exception {
        // given
        Files.writeString(schemas.resolve("ThingRecord.json"), SCHEMA);
        generate();
        FileTime longAgo = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(thing(), longAgo);

        // when: the same again, then a change that gives the same code
        generate();
        Files.writeString(schemas.resolve("ThingRecord.json"), SCHEMA + "// one more\n");
        generate();

        // then
        assertThat(Files.getLastModifiedTime(thing())).isEqualTo(longAgo);
    }

    @Test
    void shouldWriteAgainWhenTheSchemaChanged() throws Exception {
        // given
        Files.writeString(schemas.resolve("ThingRecord.json"), SCHEMA);
        generate();

        // when
        Files.writeString(schemas.resolve("ThingRecord.json"), SCHEMA.replace("Size", "Weight"));
        generate();

        // then
        assertThat(Files.readString(thing())).contains("public int weight()").doesNotContain("int size()");
    }

    @Test
    void shouldRemoveTheClassWhenItsSchemaIsGone() throws Exception {
        // given
        Path schema = Files.writeString(schemas.resolve("ThingRecord.json"), SCHEMA);
        generate();

        // when
        Files.delete(schema);
        generate();

        // then
        assertThat(thing()).doesNotExist();
    }

    @Test
    void shouldWriteNothingWhenThereAreNoSchemas() throws Exception {
        GeneratorMain.main(new String[] {directory.resolve("missing").toString(), "some.place", output.toString()});

        assertThat(thing()).doesNotExist();
    }

    @Test
    void shouldNameTheFileAndTheFaultWhenASchemaIsBad() throws Exception {
        // given
        Files.writeString(
                schemas.resolve("ThingRecord.json"),
                SCHEMA.replace("\"type\": \"int32\", \"versions\": \"0+\"", "\"versions\": \"0+\""));

        // then
        assertThatThrownBy(this::generate)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ThingRecord.json")
                .hasMessageContaining("'type' is missing in Size");
    }

    private void generate() throws Exception {
        GeneratorMain.main(new String[] {schemas.toString(), "some.place", output.toString()});
    }

    private Path thing() {
        return output.resolve("some/place/ThingRecord.java");
    }
}
