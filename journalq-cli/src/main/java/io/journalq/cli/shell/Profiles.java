package io.journalq.cli.shell;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The brokers that a user has given names, in a file with a line {@code NAME.bootstrap=HOST:PORT} for each. */
public final class Profiles {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
    private static final String BOOTSTRAP = ".bootstrap=";

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

    /** Returns the addresses of all profiles by name. */
    public SortedMap<String, String> all() throws IOException {
        SortedMap<String, String> addresses = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(file)) {
                int end = line.indexOf(BOOTSTRAP);
                if (end > 0) {
                    addresses.put(line.substring(0, end), line.substring(end + BOOTSTRAP.length()));
                }
            }
        } catch (NoSuchFileException none) {
            return addresses;
        }
        return addresses;
    }

    /** Adds a profile. Returns whether there was one of that name. */
    public boolean put(String name, String bootstrap) throws IOException {
        SortedMap<String, String> addresses = all();
        boolean existed = addresses.put(name, bootstrap) != null;
        write(addresses);
        return existed;
    }

    /** Removes a profile. Returns whether there was one of that name. */
    public boolean remove(String name) throws IOException {
        SortedMap<String, String> addresses = all();
        boolean existed = addresses.remove(name) != null;
        if (existed) {
            write(addresses);
        }
        return existed;
    }

    /** Returns the address of a profile that must exist. */
    String bootstrapOf(String name) {
        try {
            SortedMap<String, String> addresses = all();
            String address = addresses.get(name);
            if (address == null) {
                throw new CommandFailure("there is no profile " + name + "; add it with journalq profile add " + name
                        + " --bootstrap HOST:PORT"
                        + (addresses.isEmpty()
                                ? ""
                                : ", or use one of these: " + String.join(", ", addresses.keySet())));
            }
            return address;
        } catch (IOException unreadable) {
            throw new CommandFailure("cannot read the profiles in " + file + ": " + unreadable.getMessage()
                    + "; use --bootstrap instead");
        }
    }

    /** Replaces the file as a whole, so that a command that reads it at the same time finds all profiles. */
    private void write(SortedMap<String, String> addresses) throws IOException {
        List<String> lines = addresses.entrySet().stream()
                .map(profile -> profile.getKey() + BOOTSTRAP + profile.getValue())
                .toList();
        Files.createDirectories(file.getParent());
        Path next = Files.createTempFile(file.getParent(), "profiles", ".tmp");
        Files.write(next, lines);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
