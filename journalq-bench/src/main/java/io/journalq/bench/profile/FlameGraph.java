package io.journalq.bench.profile;

import io.journalq.bench.BenchException;
import io.journalq.bench.output.HtmlReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A page with a flame graph. Each box is a frame, whose width is its share of all samples; callers are above the frames that
 * they call. A click widens a box to the page, and a text field finds frames. One thread.
 */
public final class FlameGraph {
    private static final int WIDTH_PX = 1600;
    private static final int ROW_PX = 17;
    /** Narrower boxes are omitted. */
    private static final double MIN_WIDTH_PX = 0.4;

    private static final double LETTER_PX = 6.6;
    private static final int MIN_LETTERS = 3;
    private static final int PALETTE = 40;

    private final StringBuilder boxes = new StringBuilder();
    private int deepest;
    private long total;

    private FlameGraph() {}

    /** Draws a recording; returns the main class and arguments of the recorded process. */
    public static String write(Path recording, Path page) {
        Stacks stacks = Stacks.read(recording);
        FlameGraph graph = new FlameGraph();
        graph.total = Math.max(1, stacks.root().samples());
        graph.draw("all", stacks.root(), 0, 0);
        try {
            Files.writeString(page, graph.page(stacks.program()));
        } catch (IOException e) {
            throw new BenchException("cannot write " + page, "use --results with a writable directory", e);
        }
        return stacks.program();
    }

    /** The main class and arguments of the recorded process. */
    public static String programOf(Path recording) {
        return Stacks.read(recording).program();
    }

    private void draw(String name, Stacks.Frame frame, long before, int depth) {
        double width = (double) WIDTH_PX * frame.samples() / total;
        if (width < MIN_WIDTH_PX) {
            return;
        }
        deepest = Math.max(deepest, depth);
        double x = (double) WIDTH_PX * before / total;
        boxes.append("<g data-x=\"%.2f\" data-w=\"%.2f\" data-d=\"%d\"><title>%s, %,d samples, %.2f %%</title>"
                .formatted(
                        x, width, depth, HtmlReport.escaped(name), frame.samples(), 100.0 * frame.samples() / total));
        boxes.append("<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"hsl(%d,80%%,70%%)\"/>"
                .formatted(x, depth * ROW_PX, width, ROW_PX - 1, hue(name)));
        boxes.append("<text x=\"%.2f\" y=\"%d\">%s</text></g>%n"
                .formatted(x + 2, depth * ROW_PX + ROW_PX - 5, HtmlReport.escaped(shortened(name, width))));
        long at = before;
        for (var child : frame.children().entrySet()) {
            draw(child.getKey(), child.getValue(), at, depth + 1);
            at += child.getValue().samples();
        }
    }

    private static int hue(String name) {
        int base = name.startsWith("io.journalq.") ? 100 : name.startsWith("io.netty.") ? 190 : 10;
        return base + Math.floorMod(name.hashCode(), PALETTE);
    }

    private static String shortened(String name, double width) {
        int room = (int) (width / LETTER_PX);
        int dot = name.lastIndexOf('.', name.lastIndexOf('.') - 1);
        String own = name.substring(dot + 1);
        if (room < MIN_LETTERS) {
            return "";
        }
        return own.length() <= room ? own : own.substring(0, room - 1) + "…";
    }

    private String page(String program) {
        return """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
                <title>Flame graph</title>
                <style>body{font:14px system-ui,sans-serif;margin:1em;overflow-wrap:anywhere}text{font:11px monospace;pointer-events:none}
                g:hover rect{stroke:#000}.found rect{fill:#c0f}</style></head><body>
                <p>%s</p><p>%,d samples. Callers are above the frames that they call. Click on a box to widen it, and on the top box to go back.
                <input id="q" placeholder="find"></p>
                <svg id="s" width="100%%" height="%d" xmlns="http://www.w3.org/2000/svg">
                %s</svg>
                <script>
                const all=[...document.querySelectorAll('#s g')];let shown=[0,%d];
                function show(x,w){shown=[x,w];const W=document.body.clientWidth;for(const g of all){const a=(+g.dataset.x-x)*W/w,b=+g.dataset.w*W/w;
                const r=g.firstElementChild.nextElementSibling,t=r.nextElementSibling;
                const on=a+b>0&&a<W;g.style.display=on?'':'none';if(!on)continue;
                const l=Math.max(0,a),e=Math.min(W,a+b);r.setAttribute('x',l);r.setAttribute('width',Math.max(0,e-l));
                t.setAttribute('x',l+2);const n=g.firstElementChild.textContent.split(',')[0].split('.').slice(-2).join('.');
                const c=Math.floor((e-l)/6.6);t.textContent=c<3?'':n.length<=c?n:n.slice(0,c-1)+'…';}}
                onresize=()=>show(...shown);show(...shown);
                for(const g of all)g.onclick=()=>show(+g.dataset.x,+g.dataset.w);
                document.getElementById('q').oninput=e=>{const q=e.target.value.toLowerCase();
                for(const g of all)g.classList.toggle('found',q!==''&&g.firstElementChild.textContent.toLowerCase().includes(q));};
                </script></body></html>
                """
                .formatted(HtmlReport.escaped(program), total, (deepest + 1) * ROW_PX, boxes, WIDTH_PX);
    }
}
