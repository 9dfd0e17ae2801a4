package io.journalq.server.config;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads a configuration file: YAML with dotted keys. Only this class needs the YAML library, which an embedded broker
 * does not have.
 */
final class ConfigFile {
    private static final int MAX_SIZE_BYTES = 1 << 20;

    private ConfigFile() {}

    /**
     * A setting of the file.
     *
     * @param place the file and the line, for errors
     * @param value the text of the value; lists are joined by commas
     */
    record Line(String place, String name, String value) {}

    /**
     * Reads all settings, in the order of the file.
     *
     * @throws ConfigException names the file, the line and the fault
     */
    static List<Line> read(Path file) throws ConfigException {
        try {
            if (Files.size(file) > MAX_SIZE_BYTES) {
                throw new ConfigException(file + " is larger than " + MAX_SIZE_BYTES + " bytes");
            }
            try (JsonParser parser = new YAMLFactory().createParser(file.toFile())) {
                return readDocument(file, parser);
            }
        } catch (NoSuchFileException missing) {
            throw new ConfigException("Cannot find the configuration " + file);
        } catch (JsonProcessingException malformed) {
            int line = malformed.getLocation() == null
                    ? 1
                    : malformed.getLocation().getLineNr();
            throw new ConfigException(
                    file + " line " + line + ": not YAML: " + firstLine(malformed.getOriginalMessage()));
        } catch (IOException unreadable) {
            throw new ConfigException("Cannot read the configuration " + file + ": " + unreadable.getMessage());
        }
    }

    private static List<Line> readDocument(Path file, JsonParser parser) throws IOException, ConfigException {
        List<Line> lines = new ArrayList<>();
        JsonToken first = parser.nextToken();
        if (first == null) {
            return lines;
        }
        if (first != JsonToken.START_OBJECT) {
            throw new ConfigException(file + " must hold lines of the form 'key: value'");
        }
        Set<String> seen = new HashSet<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            String place = file + " line " + parser.currentTokenLocation().getLineNr();
            if (!seen.add(name)) {
                throw new ConfigException(place + ": '" + name + "' is set twice");
            }
            lines.add(new Line(place, name, readValue(parser, place, name)));
        }
        JsonToken next = parser.nextToken();
        if (next != null && next != JsonToken.VALUE_NULL) {
            // Its settings must not be ignored without a word.
            throw new ConfigException(file + " line "
                    + parser.currentTokenLocation().getLineNr()
                    + ": a second document begins; remove the line '---' before it");
        }
        return lines;
    }

    private static String readValue(JsonParser parser, String place, String name) throws IOException, ConfigException {
        JsonToken token = parser.nextToken();
        if (token == JsonToken.VALUE_NULL) {
            return "";
        }
        if (token != null && token.isScalarValue()) {
            return parser.getText();
        }
        if (token == JsonToken.START_ARRAY) {
            List<String> items = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (!parser.currentToken().isScalarValue()) {
                    throw new ConfigException(place + ": the items of " + name + " must be plain values");
                }
                items.add(parser.getText());
            }
            return String.join(",", items);
        }
        throw new ConfigException(
                place + ": " + name + " must be a plain value or a list; keys are dotted, not nested");
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }
}
