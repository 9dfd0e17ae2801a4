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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a configuration file: YAML with dotted keys. Only this class needs the YAML library, which an embedded broker
 * does not have.
 */
final class ConfigFile {
    private static final int MAX_SIZE_BYTES = 1 << 20;
    /** A place in a message of the YAML parser. */
    private static final Pattern MARK = Pattern.compile("(?m)^ in .*, line (\\d+), column \\d+:");

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
            throw new ConfigException(file + " " + fault(malformed));
        } catch (IOException unreadable) {
            throw new ConfigException("Cannot read the configuration " + file + ": " + unreadable.getMessage());
        }
    }

    /** Jackson's own location is that of the last token that it has read, which can be lines before the fault. */
    private static String fault(JsonProcessingException malformed) {
        String message = malformed.getOriginalMessage();
        List<Integer> marks = new ArrayList<>();
        Matcher matcher = MARK.matcher(message);
        while (matcher.find()) {
            marks.add(Integer.parseInt(matcher.group(1)));
        }
        if (marks.isEmpty()) {
            int line = malformed.getLocation() == null
                    ? 1
                    : malformed.getLocation().getLineNr();
            return "line " + line + ": not YAML: " + firstLine(message);
        }
        if (message.startsWith("while scanning a simple key")) {
            return "line " + marks.get(0) + ": not YAML: lines must have the form 'key: value'";
        }
        return "line " + marks.get(marks.size() - 1) + ": not YAML: " + firstLine(message);
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
