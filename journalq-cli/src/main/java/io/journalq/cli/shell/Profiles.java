package io.journalq.cli.shell;

import io.journalq.common.file.FileProblem;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The brokers that a user has given names, in a file with a line {@code NAME.PROPERTY=VALUE} for each property: {@code
 * bootstrap}, and those of {@link TlsOptions} and {@link SaslOptions}.
 */
public final class Profiles {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
    private static final String BOOTSTRAP = "bootstrap";
    private static final List<String> PROPERTIES = Stream.of(
                    List.of(BOOTSTRAP), TlsOptions.PROPERTIES, SaslOptions.PROPERTIES)
            .flatMap(List::stream)
            .toList();

    /** Only one thread of this process at a time, because the lock of a file is one of the process. */
    private static final ReentrantLock TURNS = new ReentrantLock();

    private final Path file;

    Profiles(Path file) {
        this.file = file;
    }

    /** The file of the user whose environment this is. */
    static Path fileOf(Map<String, String> environment) {
        String config = environment.getOrDefault("XDG_CONFIG_HOME", "");
        Path directory = config.isEmpty() ? Path.of(System.getProperty("user.home"), ".config") : Path.of(config);
        return directory.resolve("journalq").resolve("profiles");
    }

    /** Whether a profile may have this name. */
    public static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Returns all profiles by name. */
    public SortedMap<String, Profile> all() throws IOException {
        SortedMap<String, Map<String, String>> found = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(file)) {
                for (String property : PROPERTIES) {
                    int end = line.indexOf('.' + property + '=');
                    if (end > 0 && end + property.length() + 1 == line.indexOf('=')) {
                        found.computeIfAbsent(line.substring(0, end), name -> new TreeMap<>())
                                .put(property, line.substring(line.indexOf('=') + 1));
                    }
                }
            }
        } catch (NoSuchFileException none) {
            return new TreeMap<>();
        }
        SortedMap<String, Profile> profiles = new TreeMap<>();
        found.forEach((name, properties) -> {
            if (properties.containsKey(BOOTSTRAP)) {
                profiles.put(
                        name,
                        new Profile(properties.get(BOOTSTRAP), TlsOptions.of(properties), SaslOptions.of(properties)));
            }
        });
        return profiles;
    }

    /** Adds a profile. Returns whether there was one of that name. */
    public boolean put(String name, Profile profile) throws IOException {
        return change(profiles -> {
            boolean existed = profiles.put(name, profile) != null;
            write(profiles);
            return existed;
        });
    }

    /** Removes a profile. Returns whether there was one of that name. */
    public boolean remove(String name) throws IOException {
        if (!Files.exists(file)) {
            return false;
        }
        return change(profiles -> {
            boolean existed = profiles.remove(name) != null;
            if (existed) {
                write(profiles);
            }
            return existed;
        });
    }

    /** Changes all profiles. Returns whether there was one of the name that it is about. */
    private interface Change {
        boolean make(SortedMap<String, Profile> profiles) throws IOException;
    }

    /** One command at a time reads the file and replaces it. Otherwise, the profile of the other one would be lost. */
    private boolean change(Change change) throws IOException {
        Files.createDirectories(file.getParent());
        Path beside = file.resolveSibling(file.getFileName() + ".lock");
        TURNS.lock();
        try (FileChannel channel = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            try {
                channel.lock(); // Closing the channel ends it.
            } catch (IOException noLocks) {
                // Some network file systems have none. Commands that run at once are rare.
            }
            return change.make(all());
        } finally {
            TURNS.unlock();
        }
    }

    /** Returns a profile that must exist. */
    Profile get(String name) {
        try {
            SortedMap<String, Profile> profiles = all();
            Profile profile = profiles.get(name);
            if (profile == null) {
                throw new CommandFailure("there is no profile " + name + "; add it with journalq profile add " + name
                        + " --bootstrap HOST:PORT"
                        + (profiles.isEmpty() ? "" : ", or use one of these: " + String.join(", ", profiles.keySet())));
            }
            return profile;
        } catch (IOException unreadable) {
            throw new CommandFailure("cannot read the profiles in " + file + ": " + FileProblem.reason(unreadable)
                    + "; use --bootstrap instead");
        }
    }

    /** Replaces the file as a whole, so that a command that reads it at the same time finds all profiles. */
    private void write(SortedMap<String, Profile> profiles) throws IOException {
        List<String> lines = new ArrayList<>();
        profiles.forEach((name, profile) -> {
            lines.add(name + '.' + BOOTSTRAP + '=' + profile.bootstrap());
            if (profile.tls() != null) {
                profile.tls().properties().forEach((key, value) -> lines.add(name + '.' + key + '=' + value));
            }
            if (profile.sasl() != null) {
                profile.sasl().properties().forEach((key, value) -> lines.add(name + '.' + key + '=' + value));
            }
        });
        Path next = Files.createTempFile(file.getParent(), "profiles", ".tmp");
        try {
            Files.write(next, lines);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(next);
        }
    }
}
