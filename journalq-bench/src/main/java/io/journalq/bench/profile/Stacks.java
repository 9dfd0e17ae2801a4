package io.journalq.bench.profile;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/** The samples of a recording as a tree of frames with the number of samples in each. One thread. */
final class Stacks {
    private static final String JAVA = "jdk.ExecutionSample";
    private static final String NATIVE = "jdk.NativeMethodSample";
    private static final String MACHINE = "jdk.JVMInformation";

    private final Frame root = new Frame();
    private String program = "";

    /** A frame, the number of samples in it and in its callees, and the frames that it called, by name. */
    static final class Frame {
        private final Map<String, Frame> children = new TreeMap<>();
        private long samples;

        long samples() {
            return samples;
        }

        Map<String, Frame> children() {
            return children;
        }
    }

    private Stacks() {}

    static Stacks read(Path recording) {
        Stacks stacks = new Stacks();
        try (RecordingFile file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                stacks.add(file.readEvent());
            }
        } catch (IOException e) {
            throw new BenchException("cannot read recording " + recording, "run the benchmark again", e);
        }
        return stacks;
    }

    private void add(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case JAVA -> addStack(event);
            case NATIVE -> {
                // Threads that wait in the kernel are sampled too, but use no processor time.
                if (!isWaiting(event)) {
                    addStack(event);
                }
            }
            case MACHINE -> program = event.getString("javaArguments");
            default -> {}
        }
    }

    private static boolean isWaiting(RecordedEvent event) {
        if (event.getStackTrace() == null || event.getStackTrace().getFrames().isEmpty()) {
            return true;
        }
        String top = name(event.getStackTrace().getFrames().get(0));
        return top.contains("epollWait")
                || top.contains("EPoll.wait")
                || top.contains(".accept")
                || top.contains(".park")
                || top.contains(".waitForProcessExit");
    }

    private void addStack(RecordedEvent event) {
        if (event.getStackTrace() == null) {
            return;
        }
        List<RecordedFrame> frames = event.getStackTrace().getFrames();
        Frame at = root;
        at.samples++;
        for (int i = frames.size() - 1; i >= 0; i--) {
            at = at.children.computeIfAbsent(name(frames.get(i)), name -> new Frame());
            at.samples++;
        }
    }

    private static String name(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        return method == null ? "?" : method.getType().getName() + "." + method.getName();
    }

    Frame root() {
        return root;
    }

    /** The main class and arguments of the process. */
    String program() {
        return program == null ? "" : program;
    }
}
