package io.journalq.browser;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.journalq.server.broker.Broker;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.ExpectedConditions;
import org.openqa.selenium.support.ui.WebDriverWait;

/** The console in Chromium: every page, at two widths, with no and with many topics, and what users do there. */
@Timeout(300)
class ConsoleBrowserTest {
    private static final Path BROWSER = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Pattern REQUEST = Pattern.compile("\"Network.requestWillBeSent\".*?\"url\":\"([^\"]+)\"");
    private static final int SETTLE_MS = 400;
    private static final long TAIL_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final long MAX_TAB_BYTES = 150L << 20;

    private static final List<String> PAGES = List.of(
            "", "topics", "groups", "transactions", "health", "cluster", "configuration", "quotas", "rights", "absent");
    private static final List<String> PAGES_OF_A_TOPIC = List.of(
            "topics/t0",
            "topics/t0/tail",
            "topics/t0/produce",
            "topics/t0/partitions",
            "topics/t0/configuration",
            "groups/g",
            "groups/g/members",
            "groups/g/configuration");

    @TempDir
    private Path directory;

    private Broker broker;
    private ChromeDriver browser;
    private WebDriverWait wait;
    private String address;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(
                Files.isExecutable(BROWSER) && Files.isExecutable(DRIVER), "apt-get install chromium chromium-driver");
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : Map.of(
                        "listeners", "PLAINTEXT://127.0.0.1:0",
                        "admin.listener", "",
                        "gateway.listener", "127.0.0.1:0",
                        "data.directories", directory.toString())
                .entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        broker = Broker.startInMemory(config);
        address = "http://127.0.0.1:" + broker.gatewayPort();

        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        openBrowser(logs);
    }

    private void openBrowser(LoggingPreferences logs) {
        ChromeOptions options = new ChromeOptions()
                .setBinary(BROWSER.toFile())
                .addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage");
        options.setCapability("goog:loggingPrefs", logs);
        browser = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(DRIVER.toFile())
                        .build(),
                options);
        wait = new WebDriverWait(browser, Duration.ofSeconds(20));
        width(1280);
    }

    @AfterEach
    void stop() {
        if (browser != null) {
            browser.quit();
        }
        if (broker != null) {
            broker.close();
        }
    }

    private void width(int pixels) {
        browser.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", pixels, "height", 900, "deviceScaleFactor", 1, "mobile", false));
    }

    private void call(String method, String path, String type, String body) throws Exception {
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(address + path))
                                .header("Content-Type", type)
                                .method(method, BodyPublishers.ofString(body))
                                .build(),
                        BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isBetween(200, 299);
    }

    private void open(String page) throws InterruptedException {
        browser.executeScript("location.hash = '#/' + arguments[0]", page);
        wait.until(ExpectedConditions.presenceOfElementLocated(By.tagName("h1")));
        Thread.sleep(SETTLE_MS); // what the page loads next has no sign that all pages share
    }

    private WebElement find(String css) {
        return wait.until(ExpectedConditions.elementToBeClickable(By.cssSelector(css)));
    }

    private void press(String button) {
        wait.until(ExpectedConditions.elementToBeClickable(
                        By.xpath("//*[self::button or self::a][normalize-space()='" + button + "']")))
                .click();
    }

    private void awaitText(String text) {
        wait.until(ExpectedConditions.textToBePresentInElementLocated(By.tagName("body"), text));
    }

    private void fill(int topics) throws Exception {
        for (int i = 0; i < topics; i++) {
            call("POST", "/v1/topics", "application/json", "{\"name\":\"t" + i + "\",\"partitions\":2}");
        }
        if (topics > 0) {
            call(
                    "POST",
                    "/v1/topics/t0/records",
                    "application/x-ndjson",
                    "{\"key\":\"k\",\"value\":{\"a\":[1,{\"b\":\"needle\"}]}}\n".repeat(150));
            call(
                    "POST",
                    "/v1/groups/g/offsets",
                    "application/json",
                    "{\"topic\":\"t0\",\"to\":\"start\",\"execute\":true}");
        }
    }

    private List<?> findings() throws Exception {
        return (List<?>) browser.executeAsyncScript(
                "const done = arguments[0]; axe.run().then((result) => done(result.violations"
                        + ".filter((one) => ['serious', 'critical'].includes(one.impact))"
                        + ".map((one) => one.id + ': ' + one.nodes[0].html)));");
    }

    @ParameterizedTest
    @CsvSource({"0, light", "10, light", "10, dark"})
    void shouldShowEveryPageWithoutErrorsAndBarriersWhenOpened(int topics, String theme) throws Exception {
        fill(topics);
        String axe;
        try (InputStream in = ConsoleBrowserTest.class.getResourceAsStream("/axe.min.js")) {
            axe = new String(in.readAllBytes(), UTF_8);
        }
        browser.get(address);
        browser.executeScript("localStorage.setItem('theme', arguments[0])", theme);
        browser.navigate().refresh();
        browser.executeScript(axe);
        List<String> pages = new ArrayList<>(PAGES);
        if (topics > 0) {
            pages.addAll(PAGES_OF_A_TOPIC);
        }
        for (String page : pages) {
            for (int width : List.of(1280, 390)) {
                width(width);
                open(page);
                assertThat(browser.findElements(By.cssSelector(".note.bad")))
                        .as(page)
                        .isEmpty();
                assertThat((Long) browser.executeScript("return document.documentElement.scrollWidth - innerWidth"))
                        .as("%s at %s pixels", page, width)
                        .isLessThanOrEqualTo(0);
                assertThat((List<?>) browser.executeScript("return [...document.querySelectorAll('.scroll')]"
                                + ".filter((table) => table.scrollWidth > table.clientWidth)"
                                + ".map((table) => table.ariaLabel)"))
                        .as("tables that are wider than %s at %s pixels", page, width)
                        .isEmpty();
                assertThat(findings()).as("%s at %s pixels", page, width).isEmpty();
            }
        }
        assertThat(browser.manage().logs().get(LogType.BROWSER).getAll().stream()
                        .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                        .map(LogEntry::getMessage))
                .isEmpty();
        TreeSet<String> hosts = new TreeSet<>();
        for (LogEntry entry : browser.manage().logs().get(LogType.PERFORMANCE)) {
            Matcher request = REQUEST.matcher(entry.getMessage());
            if (request.find() && !request.group(1).startsWith("data:")) {
                hosts.add(URI.create(request.group(1)).getAuthority());
            }
        }
        assertThat(hosts).containsExactly("127.0.0.1:" + broker.gatewayPort());
    }

    @Test
    void shouldCreateProduceFindAndDeleteWhenAUserBeginsWithAnEmptyBroker() throws Exception {
        browser.get(address);
        press("Create a topic");
        press("Create the first topic");
        find("dialog input[name=name]").sendKeys("orders" + Keys.ENTER);
        awaitText("Topic orders was created");

        find("textarea").sendKeys("{\"item\": \"one coffee\"}");
        find("textarea").sendKeys(Keys.chord(Keys.CONTROL, Keys.ENTER));
        press("Show it");
        awaitText("one coffee");

        find("input[type=search]").sendKeys("COFFEE" + Keys.ENTER);
        awaitText("1 found in 1 record, to the end of the topic");
        find("tbody button").click();
        awaitText("Value, 22 B");
        browser.switchTo().activeElement().sendKeys(Keys.ESCAPE);
        wait.until(ExpectedConditions.numberOfElementsToBe(By.tagName("dialog"), 0));

        press("Delete topic");
        find("dialog input").sendKeys("orders");
        press("Delete");
        awaitText("There are no topics yet");
    }

    @Test
    void shouldShowTheNewestReadableRecordsWhenATransactionIsOpen() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "committed before");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", "open"),
                new StringSerializer(),
                new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("t0", "not committed")).get();
            call(
                    "POST",
                    "/v1/topics/t0/records",
                    "application/x-ndjson",
                    "{\"value\":\"behind the transaction\"}\n".repeat(200));
            // when
            browser.get(address + "/#/topics/t0");
            // then
            awaitText("committed before");
            assertThat(browser.findElements(By.cssSelector(".note.bad"))).isEmpty();
            producer.abortTransaction();
        }
    }

    @Test
    void shouldNotCallATransactionOpenWhenItIsComplete() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", "complete"),
                new StringSerializer(),
                new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("t0", "committed")).get();
            producer.commitTransaction();
        }
        // when
        browser.get(address + "/#/transactions");
        // then
        awaitText("CompleteCommit");
        awaitText("not open");
        browser.get(address + "/#/transactions/complete");
        awaitText("Open since\nnot open");
    }

    @Test
    void shouldShowNewRecordsWhenTheTailIsOpen() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/tail");
        awaitText("connected");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "just appended");

        awaitText("just appended");
    }

    @Test
    @Tag("long")
    @Timeout(1_200)
    void shouldUseLittleMemoryWhenTheTailIsOpenForTenMinutes() throws Exception {
        browser.quit();
        openBrowser(new LoggingPreferences()); // the log of requests is kept in the memory of the tab
        fill(1);
        browser.get(address + "/#/topics/t0/tail");
        awaitText("connected");
        String lines = ("{\"value\":\"" + "x".repeat(500) + "\"}\n").repeat(50);
        long largestBytes = 0;
        long endNanos = System.nanoTime() + TAIL_NANOS;
        for (int i = 0; System.nanoTime() < endNanos; i++) {
            call("POST", "/v1/topics/t0/records", "application/x-ndjson", lines);
            if (i % 200 == 0) {
                // With much memory, Chromium collects garbage so late that the tab seems to use twice as much.
                browser.executeCdpCommand("HeapProfiler.collectGarbage", Map.of());
                largestBytes = Math.max(largestBytes, tabBytes());
            }
            Thread.sleep(100); // 500 records/s; the page shows 200 of them
        }
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "the last one");

        awaitText("the last one");
        System.err.println("measured: largest memory of the tab in MiB: " + (largestBytes >> 20));
        assertThat(largestBytes).isPositive().isLessThan(MAX_TAB_BYTES);
    }

    /** Memory of the tab's process, with its part of what processes share. */
    private static long tabBytes() {
        return ProcessHandle.allProcesses()
                .mapToLong(ProcessHandle::pid)
                .filter(ConsoleBrowserTest::isTab)
                .map(ConsoleBrowserTest::proportionalBytes)
                .max()
                .orElse(0);
    }

    private static boolean isTab(long pid) {
        try {
            String command = Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"));
            return command.contains("chrom") && command.contains("--type=renderer");
        } catch (IOException ended) {
            return false;
        }
    }

    private static long proportionalBytes(long pid) {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "smaps_rollup"))) {
            return lines.filter(line -> line.startsWith("Pss:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                    .sum();
        } catch (IOException ended) {
            return 0;
        }
    }

    @Test
    void shouldResetOffsetsOnlyAfterThePreviewWhenAUserAsks() throws Exception {
        fill(1);
        browser.get(address + "/#/groups/g");
        press("Reset offsets");
        find("dialog select").sendKeys("the end");
        press("Preview");
        press("Reset 2 offsets");
        awaitText("The offsets were reset");
        awaitText("0 ms");
    }

    @Test
    void shouldShiftOffsetsOnceWhenAUserPressesTheButtonTwice() throws Exception {
        fill(1);
        browser.get(address + "/#/groups/g");
        press("Reset offsets");
        find("dialog select").sendKeys("the committed offset plus");
        find("dialog input[type=number]").sendKeys("10");
        press("Preview");
        awaitText("Reset 2 offsets");

        browser.executeScript(
                """
                const real = window.fetch;
                window.resets = 0;
                window.fetch = (path, options) => {
                  window.resets += options?.method === "POST" ? 1 : 0;
                  return real(path, options);
                };
                const reset = [...document.querySelectorAll("dialog .main-action")].at(-1);
                reset.click();
                reset.click();""");

        awaitText("The offsets were reset");
        assertThat((Long) browser.executeScript("return window.resets")).isEqualTo(1);
    }

    @Test
    void shouldShiftOffsetsOnceWhenAnEarlierPreviewArrivesMeanwhile() throws Exception {
        fill(1);
        browser.get(address + "/#/groups/g");
        press("Reset offsets");
        find("dialog select").sendKeys("the committed offset plus");
        find("dialog input[type=number]").sendKeys("10");

        browser.executeScript(
                """
                const real = window.fetch;
                const button = () => [...document.querySelectorAll("dialog .main-action")].at(-1);
                const until = async (condition) => {
                  while (!condition()) {
                    await new Promise((resolve) => setTimeout(resolve, 20));
                  }
                };
                let previews = 0;
                let pressed = false;
                window.resets = 0;
                window.fetch = async (path, options) => {
                  if (options?.method === "POST" && JSON.parse(options.body).execute) {
                    window.resets++;
                    await until(() => pressed);
                  } else if (options?.method === "POST" && ++previews === 2) {
                    await until(() => window.resets);
                    setTimeout(() => {
                      button().click();
                      pressed = true;
                    }, 1000);
                  }
                  return real(path, options);
                };
                button().click();
                button().click();
                until(() => button().textContent.startsWith("Reset")).then(() => button().click());""");

        awaitText("The offsets were reset");
        assertThat((Long) browser.executeScript("return window.resets")).isEqualTo(1);
    }

    @Test
    void shouldChangeASettingAfterThePreviewWhenAUserAsks() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/configuration");
        find("input[type=search]").sendKeys("retention.ms");
        awaitText("match");
        wait.until(ExpectedConditions.elementToBeClickable(By.xpath("//tr[.//span[text()='retention.ms']]//button")))
                .click();
        WebElement value = find("dialog input");
        value.clear();
        value.sendKeys("2d");
        press("Preview");
        awaitText("retention.ms changes from 7 d (604800000) to 2 d (172800000)");
        press("Change");
        awaitText("set on this topic");
    }

    @Test
    void shouldAppendToThePartitionThatAUserChooses() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/produce");
        WebElement partition =
                find("form").findElement(By.xpath(".//label[starts-with(normalize-space(), 'Partition')]/select"));
        for (String number : List.of("1", "0")) {
            partition.sendKeys(number);
            find("form .main-action").click();
            awaitText("Appended to partition " + number);
        }
    }

    @Test
    void shouldAppendARecordOnceWhenItIsSentAgainBeforeTheResponse() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/produce");
        find("textarea");
        browser.executeScript(
                """
                window.real = window.fetch;
                window.sent = [];
                window.fetch = (path, options) => options?.method === "POST"
                  ? new Promise((done) => window.sent.push(() => done(window.real(path, options))))
                  : window.real(path, options);
                const form = document.querySelector("form");
                form.requestSubmit();
                form.requestSubmit();""");

        assertThat(browser.executeScript("return window.sent.length")).isEqualTo(1L);
        browser.executeScript("window.sent[0]()");
        awaitText("Appended to partition");

        // and the next one can be sent
        find("form .main-action").click();
        assertThat(browser.executeScript("return window.sent.length")).isEqualTo(2L);
    }

    @Test
    void shouldShowAndChangeTheLimitOfAnAddress() throws Exception {
        call(
                "PATCH",
                "/v1/quotas",
                "application/json",
                "{\"entity\":{\"ip\":\"192.0.2.1\"},\"set\":{\"connection_creation_rate\":7},\"execute\":true}");
        browser.get(address + "/#/quotas");
        awaitText("ip 192.0.2.1");
        awaitText("7/s");

        press("Edit");
        find("dialog input").sendKeys(Keys.chord(Keys.CONTROL, "a"), "9", Keys.ENTER);
        awaitText("The quota was saved");
        awaitText("9/s");
    }

    @Test
    void shouldAskAgainWhenABooleanIsChangedAfterItsPreview() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/configuration");
        find("input[type=search]").sendKeys("preallocate");
        awaitText("match");
        wait.until(ExpectedConditions.elementToBeClickable(By.xpath("//tr[.//span[text()='preallocate']]//button")))
                .click();
        find("dialog select").sendKeys("true");
        press("Preview");
        awaitText("changes from");

        find("dialog select").sendKeys("false");

        press("Preview");
        awaitText("changes from false to false");
    }

    @Test
    void shouldShowNumbersAsTheyWereSentWhenTheyAreLarge() throws Exception {
        String json = "{\"id\":12345678901234567890,\"2\":1.50,\"1\":[-0,\"a\\\"}\",true,[]]}";
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", json);
        browser.get(address + "/#/topics/t0");

        find("tbody button").click();
        awaitText("id: 12345678901234567890");
        assertThat(find(".tree").getText().replaceAll("\\s+", " "))
                .isEqualTo("{ 3 } id: 12345678901234567890 2: 1.50 1: [ 4 ] 0: -0 1: \"a\\\"}\" 2: true 3: [ 0 ]");

        browser.switchTo().activeElement().sendKeys(Keys.ESCAPE);
        open("topics/t0/produce");
        find("textarea").sendKeys(json);
        press("Format JSON");
        assertThat(find("textarea").getDomProperty("value"))
                .isEqualTo(
                        """
                        {
                          "id": 12345678901234567890,
                          "2": 1.50,
                          "1": [
                            -0,
                            "a\\"}",
                            true,
                            []
                          ]
                        }""");
    }

    @Test
    void shouldSayThatNothingWasFoundWhenAReadFails() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/messages?partition=9&offset=0");

        wait.until(ExpectedConditions.presenceOfElementLocated(By.cssSelector(".note.bad")));
        awaitText("Nothing was found so far");
    }

    @Test
    void shouldShowTheNewestRecordsOfOnePartitionOnlyWhenItIsChosen() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":2}");
        call(
                "POST",
                "/v1/topics/t0/records",
                "application/x-ndjson",
                "{\"partition\":0,\"value\":\"chosen\"}\n{\"partition\":1,\"value\":\"other\"}\n");
        browser.get(address + "/#/topics/t0/messages?partition=0");

        awaitText("chosen");
        assertThat(browser.findElements(By.cssSelector("tbody tr"))).hasSize(1);
    }

    @Test
    void shouldSayWhyTheLiveTailHasEndedWhenTheTopicIsDeleted() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/tail");
        awaitText("connected");

        call("DELETE", "/v1/topics/t0", "application/json", "{}");

        awaitText("or try again if it was just created");
    }

    @Test
    void shouldShowAPageWhenItsAddressIsMalformed() {
        browser.get(address + "/#/topics/100%");

        wait.until(ExpectedConditions.presenceOfElementLocated(By.cssSelector(".nav")));
    }

    @Test
    void shouldSayThatAPageOfATopicDoesNotExist() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");

        browser.get(address + "/#/topics/t0/absent");

        awaitText("This page does not exist");
    }

    @Test
    void shouldShowTheFirstRecordsWhenTheyAreAppendedToAnEmptyTopic() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        browser.get(address + "/#/topics/t0");
        awaitText("The topic has no records");

        call("POST", "/v1/topics/t0/records", "application/octet-stream", "the very first");

        awaitText("the very first");
    }

    @Test
    void shouldShowEachMatchOnceWhenASearchThatWasStoppedGoesOn() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0");
        awaitText("needle");
        browser.executeScript(
                """
                const real = window.fetch;
                const record = '{"partition":0,"offset":0,"timestamp":1,"key":null,"value":"needle"}\\n';
                const progress = '{"progress":{"scanned":0,"offsets":0,"totalOffsets":9,"cursor":"0:0"}}\\n';
                window.searches = [];
                window.fetch = (path, options) => {
                  if (!path.includes("/search")) {
                    return real(path, options);
                  }
                  window.searches.push(path);
                  const goesOn = window.searches.length > 1;
                  return Promise.resolve(new Response(new ReadableStream({ start(stream) {
                    const text = progress + record + (goesOn ? '{"cursor":"0:9","atEnd":true}\\n' : "");
                    stream.enqueue(new TextEncoder().encode(text));
                    if (goesOn) {
                      stream.close();
                    }
                    options.signal.addEventListener("abort", () => stream.error(options.signal.reason));
                  } })));
                };""");
        find("input[type=search]").sendKeys("needle" + Keys.ENTER);
        press("Stop");
        awaitText("Stopped:");

        find("input[type=search]").sendKeys(" of another search");
        press("Search on");

        awaitText("to the end of the topic");
        assertThat(browser.findElements(By.cssSelector("tbody tr"))).hasSize(1);
        assertThat((String) browser.executeScript("return window.searches[1]"))
                .contains("text=needle&", "cursor=0%3A0");
    }

    @Test
    void shouldShowEachRecordOnceWhenMoreAreWantedBeforeTheLastOnesHaveArrived() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0");
        awaitText("needle");
        browser.executeScript(
                """
                const real = window.fetch;
                const record = (offset) =>
                    `{"partition":9,"offset":${offset},"timestamp":1,"key":null,"value":"late ${offset}"}\\n`;
                let loads = 0;
                window.fetch = (path, options) => {
                  if (!path.includes("/records?cursor=")) {
                    return real(path, options);
                  }
                  loads++;
                  const ends = loads > 1;
                  return Promise.resolve(new Response(new ReadableStream({ start(stream) {
                    const send = (text) => stream.enqueue(new TextEncoder().encode(text));
                    setTimeout(() => send(record(0)), 300);
                    setTimeout(() => {
                      if (ends) {
                        send(record(1));
                        send('{"cursor":"9:2","atEnd":true}\\n');
                        stream.close();
                      }
                    }, 600);
                    options.signal.addEventListener("abort", () => stream.error(options.signal.reason));
                  } })));
                };""");
        find("form select").sendKeys("from the start");
        press("Show");
        press("Show more");
        awaitText("late 0");

        press("Show more");

        awaitText("102 records");
        assertThat(browser.findElements(By.cssSelector("tbody tr"))).hasSize(102);
    }

    @Test
    void shouldStayWhereAUserHasGoneWhenATopicIsCreatedLater() throws Exception {
        fill(1);
        browser.get(address + "/#/topics");
        press("Create a topic");
        find("dialog input[name=name]").sendKeys("late");
        browser.executeScript(
                """
                const real = window.fetch;
                window.fetch = async (path, options) => {
                  const response = await real(path, options);
                  if (options?.method === "POST") {
                    await new Promise((resolve) => setTimeout(resolve, 3000));
                  }
                  return response;
                };""");
        press("Create");
        press("Cancel");
        open("groups");

        awaitText("Topic late was created");
        assertThat(browser.getCurrentUrl()).endsWith("#/groups");
    }

    @Test
    void shouldKeepWhatWasTypedWhenColorsOrTheZoneOfTimesChange() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/produce");
        find("textarea").sendKeys("half of a record");

        find(".foot input[type=checkbox]").click();
        find(".foot select").sendKeys("dark");

        assertThat(find("textarea").getDomProperty("value")).isEqualTo("half of a record");
        open("topics/t0");
        awaitText(" UTC");
    }

    @Test
    void shouldShowRecordsWhoseTimesAreNoDates() throws Exception {
        call(
                "POST",
                "/v1/topics",
                "application/json",
                "{\"name\":\"t0\",\"configs\":{\"message.timestamp.after.max.ms\":\"9223372036854775807\"}}");
        call(
                "POST",
                "/v1/topics/t0/records",
                "application/json",
                "{\"records\":[{\"value\":\"in ns\",\"timestamp\":1700000000000000000}]}");

        browser.get(address + "/#/topics/t0");

        awaitText("in ns");
        awaitText("1700000000000000000 ms");
    }

    private void awaitScript(String condition) {
        wait.until(driver -> (Boolean) browser.executeScript("return " + condition));
    }

    @Test
    void shouldShowJsonAsTextWhenItIsNestedTooDeepForATree() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "[".repeat(800) + "]".repeat(800));
        browser.get(address + "/#/topics/t0");

        find("tbody button").click();
        awaitText("Value, 1.6 KiB");
        browser.switchTo().activeElement().sendKeys(Keys.ESCAPE);
        wait.until(ExpectedConditions.numberOfElementsToBe(By.tagName("dialog"), 0));
        open("topics");
        awaitText("Named logs of records");
    }

    @Test
    void shouldFocusTheHeadingWhenAnotherPageIsOpened() throws Exception {
        browser.get(address + "/#/topics");
        for (String page : List.of("groups", "health", "")) {
            open(page);
            awaitScript("document.activeElement.tagName === 'H1'");
        }
    }

    @Test
    void shouldSayWhyThereIsNoLiveTailWhenTheBrokerRefusesIt() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":257}");
        browser.get(address + "/#/topics/t0/tail");
        awaitText("The topic has more than 256 partitions");

        find("input[type=number]").sendKeys("200" + Keys.ENTER);
        awaitText("connected");
        assertThat(browser.findElements(By.cssSelector(".note.bad"))).isEmpty();
        call(
                "POST",
                "/v1/topics/t0/records",
                "application/json",
                "{\"records\":[{\"partition\":200,\"value\":\"here\"}]}");

        awaitText("here");
    }

    @Test
    void shouldGoOnWhereTheLiveTailWasWhenTheBrokerRefusedItForAWhile() throws Exception {
        fill(1);
        browser.get(address + "/#/topics");
        browser.executeScript(
                """
                const Real = window.EventSource;
                window.opened = [];
                window.EventSource = class extends Real {
                  constructor(path) {
                    super(window.opened.length === 1 ? "/absent" : path);
                    window.opened.push(path);
                    window.tail = this;
                  }
                };
                window.EventSource.CLOSED = Real.CLOSED;""");
        open("topics/t0/tail");
        awaitText("connected");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "before");
        awaitText("before");

        browser.executeScript("""
                window.tail.close();
                window.tail.onerror();""");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "meanwhile");

        awaitText("meanwhile");
        assertThat((String) browser.executeScript("return window.opened.at(-1)"))
                .contains("cursor=");
    }

    @Test
    void shouldKeepFewRecordsOfTheLiveTailWhenTheyAreLarge() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0/tail");
        awaitText("connected");
        for (int i = 0; i < 24; i++) {
            call("POST", "/v1/topics/t0/records", "application/octet-stream", "x".repeat(1_000_000));
        }
        awaitText("24 records since");
        Thread.sleep(SETTLE_MS);

        assertThat(browser.findElements(By.cssSelector("tbody tr"))).hasSizeBetween(1, 16);
    }

    @Test
    void shouldLoadAPageLaterWhenTheBrokerCouldNotBeReached() throws Exception {
        browser.get(address);
        awaitText("What this broker does now");
        browser.executeScript(
                """
                window.real = window.fetch;
                window.fetch = () => Promise.reject(new TypeError("Failed to fetch"));""");
        open("configuration");
        awaitText("The broker cannot be reached");

        browser.executeScript("window.fetch = window.real");

        awaitText("admin.listener");
        assertThat(browser.findElements(By.cssSelector(".note.bad"))).isEmpty();
    }

    @Test
    void shouldSayWhatToDoWhenTheConnectionBreaksInTheMiddleOfAResponse() throws Exception {
        fill(1);
        browser.get(address + "/#/topics/t0");
        awaitText("needle");
        browser.executeScript(
                """
                window.real = window.fetch;
                window.fetch = (path, options) => path.includes("/search")
                  ? Promise.resolve(new Response(new ReadableStream({ start(stream) {
                      stream.error(new TypeError("network error"));
                    } })))
                  : window.real(path, options);""");
        find("input[type=search]").sendKeys("needle" + Keys.ENTER);
        awaitText("The broker cannot be reached");
        awaitText("What to do: check that it runs");

        browser.executeScript("window.fetch = () => Promise.resolve(new Response('<html>Log in', { status: 200 }))");
        open("quotas");
        awaitText("What responds is not a broker");
        awaitText("you may have to log in again");
    }

    @Test
    void shouldStartWhenTheBrowserStoresNothingForThePage() {
        browser.executeCdpCommand(
                "Page.addScriptToEvaluateOnNewDocument",
                Map.of(
                        "source",
                        "Object.defineProperty(window, 'localStorage',"
                                + " { get() { throw new DOMException('denied', 'SecurityError'); } })"));
        browser.get(address);

        awaitText("What this broker does now");
        find(".foot select").sendKeys("dark");
        awaitScript("document.documentElement.dataset.theme === 'dark'");
    }

    @Test
    void shouldShowTheNewTopicWhenItIsDeletedAndCreatedAgain() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "of the old topic");
        browser.get(address + "/#/topics/t0");
        awaitText("of the old topic");

        call("DELETE", "/v1/topics/t0", "application/json", "{}");
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        call("POST", "/v1/topics/t0/records", "application/octet-stream", "of the new topic");

        awaitText("of the new topic");
        assertThat(find("main").getText()).doesNotContain("of the old topic");
    }

    @Test
    void shouldShowThePartitionOfTheAddressWhenItChanges() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":2}");
        call(
                "POST",
                "/v1/topics/t0/records",
                "application/x-ndjson",
                "{\"partition\":0,\"value\":\"first\"}\n{\"partition\":1,\"value\":\"second\"}\n");
        browser.get(address + "/#/topics/t0/messages?partition=0");
        awaitText("first");

        open("topics/t0/messages?partition=1");

        awaitText("second");
        assertThat(browser.findElements(By.cssSelector("tbody tr"))).hasSize(1);
    }

    @Test
    void shouldReadTimesInUtcWhenTheyAreShownInUtc() throws Exception {
        fill(1);
        browser.executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", "Asia/Tokyo"));
        browser.get(address + "/#/topics/t0");
        awaitText("needle");
        browser.executeScript(
                """
                const real = window.fetch;
                window.paths = [];
                window.fetch = (path, options) => {
                  window.paths.push(path);
                  return real(path, options);
                };""");
        find("form select").sendKeys("from a time");
        awaitText("Local time");
        find(".foot input[type=checkbox]").click();
        awaitText("UTC time");
        browser.executeScript(
                """
                const input = document.querySelector("input[type=datetime-local]");
                input.value = "2026-01-31T12:00:00";
                input.dispatchEvent(new Event("input", { bubbles: true }));""");
        press("Show");

        awaitScript("window.paths.some((path) => path.includes('time=1769860800000'))");
    }

    @Test
    void shouldResetOnlyThePartitionsThatAreNamed() throws Exception {
        fill(1);
        browser.get(address + "/#/groups/g");
        press("Reset offsets");
        find("dialog label.wide input").sendKeys("t0");
        find("dialog input[pattern]").sendKeys("1, ");
        press("Preview");

        awaitText("Reset 1 offset");
    }

    @Test
    void shouldDistinguishEmptyKeysAndValuesFromNone() throws Exception {
        call("POST", "/v1/topics", "application/json", "{\"name\":\"t0\",\"partitions\":1}");
        call(
                "POST",
                "/v1/topics/t0/records",
                "application/x-ndjson",
                "{\"key\":\"\",\"value\":\"\"}\n{\"key\":null,\"value\":null}\n");
        browser.get(address + "/#/topics/t0/messages?partition=0&offset=0");
        awaitText("tombstone");

        List<String> rows = browser.findElements(By.cssSelector("tbody tr")).stream()
                .map(row -> row.getText().replaceAll("\\s+", " "))
                .toList();
        assertThat(rows.get(0)).endsWith("empty empty");
        assertThat(rows.get(1)).endsWith("none tombstone");
    }

    @Test
    void shouldDrawChartsInTheColorsOfTheSystemWhenTheyChange() throws Exception {
        browser.get(address + "/#/topics");
        awaitText("Named logs of records");
        browser.executeScript(
                """
                const Real = window.uPlot;
                window.uPlot = function (options, ...rest) {
                  window.axis = options.axes[0].stroke;
                  return new Real(options, ...rest);
                };""");
        for (String scheme : List.of("light", "dark", "light")) {
            browser.executeCdpCommand(
                    "Emulation.setEmulatedMedia",
                    Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
            open("");
            String color = "getComputedStyle(document.documentElement).getPropertyValue('--dim').trim()";
            awaitScript("window.axis === " + color);
        }
    }
}
