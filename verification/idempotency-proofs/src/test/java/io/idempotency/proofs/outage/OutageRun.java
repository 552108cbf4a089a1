package io.idempotency.proofs.outage;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import ch.qos.logback.classic.Level;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * Calls an application before, during and after an outage, and writes down each second of
 * it.
 */
final class OutageRun implements AutoCloseable {

	private static final Pattern STATUS = Pattern.compile("\"status\"\\s*:\\s*\"(\\w+)\"");

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private static final Duration SHORT = Duration.ofMillis(20);

	private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

	private final LibraryLog log = new LibraryLog();

	private final Client client;

	private final Load load;

	/** One of them asks for the health, the other one counts. */
	private final ScheduledExecutorService watch = Executors.newScheduledThreadPool(2);

	private final List<Second> seconds = new CopyOnWriteArrayList<>();

	private final Map<Phase, Integer> peaks = new TreeMap<>();

	private final Map<Phase, Long> longest = new TreeMap<>();

	private volatile Phase phase = Phase.BEFORE;

	private volatile String health = "";

	private volatile long changed;

	private volatile @Nullable Duration troubleSeen;

	private @Nullable Duration endSeen;

	private @Nullable Duration servedAgain;

	OutageRun(int port) {
		this.client = new Client(port);
		this.load = new Load(port);
		this.watch.scheduleWithFixedDelay(this::ask, 0, 100, TimeUnit.MILLISECONDS);
		this.watch.scheduleAtFixedRate(this::count, 1, 1, TimeUnit.SECONDS);
	}

	private void ask() {
		Answer answer = this.client.send(this.client.to("/actuator/health/idempotency").GET());
		Matcher status = STATUS.matcher(answer.text());
		String seen = status.find() ? status.group(1) : answer.toString();
		if (this.phase == Phase.DURING && this.troubleSeen == null && !seen.equals("UP")) {
			this.troubleSeen = since(this.changed);
		}
		this.health = seen;
	}

	private void count() {
		this.seconds.add(new Second(this.phase, this.load.look(), this.health));
	}

	/**
	 * Breaks the store for some time, and waits until everything is as it was before.
	 * @param guarded the number of guarded runs
	 */
	void run(Duration outage, Runnable begin, Runnable end, IntSupplier guarded) {
		await().atMost(PATIENCE).until(() -> this.health.equals("UP") && this.load.all.containsKey("200"));
		await().atMost(PATIENCE).until(() -> this.seconds.size() >= 7);
		// The first seconds compile.
		this.seconds.subList(0, 3).clear();
		enter(Phase.DURING);
		begin.run();
		await().atMost(outage.plus(PATIENCE)).until(() -> since(this.changed).compareTo(outage) >= 0);
		enter(Phase.AFTER);
		end.run();
		int lines = ends();
		int runs = guarded.getAsInt();
		await().atMost(PATIENCE).pollInterval(SHORT).until(() -> guarded.getAsInt() > runs);
		this.servedAgain = since(this.changed);
		await().atMost(PATIENCE).pollInterval(SHORT).until(() -> this.health.equals("UP"));
		this.endSeen = since(this.changed);
		await().atMost(PATIENCE).until(() -> ends() > lines);
		int known = this.seconds.size();
		await().atMost(PATIENCE).until(() -> this.seconds.size() >= known + 5);
		enter(Phase.OVER);
	}

	private int ends() {
		return (int) this.log.lines(Level.WARN).stream().filter((line) -> line.contains("recovered after")).count();
	}

	private void enter(Phase next) {
		this.peaks.put(this.phase, this.threads.getPeakThreadCount());
		this.longest.put(this.phase, this.load.longest());
		this.threads.resetPeakThreadCount();
		this.changed = System.nanoTime();
		this.phase = next;
	}

	private static Duration since(long nanos) {
		return Duration.ofNanos(System.nanoTime() - nanos);
	}

	/** Returns when the health was no longer UP. */
	@Nullable Duration troubleSeen() {
		return this.troubleSeen;
	}

	Map<String, Integer> answers() {
		return this.load.all;
	}

	List<Throwable> failures() {
		return this.load.failures();
	}

	List<String> lines(Level level) {
		return this.log.lines(level);
	}

	/** Returns a row of a table in Markdown. */
	String row(StoreFault fault, String mode) {
		List<String> cells = new ArrayList<>();
		cells.add(fault.name().toLowerCase(Locale.ROOT).replace('_', ' '));
		cells.add("`" + mode + "`");
		for (Phase each : List.of(Phase.BEFORE, Phase.DURING, Phase.AFTER)) {
			cells.add(aSecond(each));
		}
		cells.add(this.longest.get(Phase.BEFORE) + " / " + this.longest.get(Phase.DURING) + " / "
				+ this.longest.get(Phase.AFTER) + " ms");
		cells.add(this.peaks.get(Phase.BEFORE) + " / " + this.peaks.get(Phase.DURING) + " / "
				+ this.peaks.get(Phase.AFTER));
		cells.add(lines(Level.ERROR).size() + " / " + lines(Level.WARN).size() + " / " + lines(Level.INFO).size());
		cells.add(healthBySecond(Phase.DURING) + "; then " + healthBySecond(Phase.AFTER));
		cells.add(seconds(this.troubleSeen) + " / " + seconds(this.servedAgain) + " / " + seconds(this.endSeen));
		return "| " + String.join(" | ", cells) + " |";
	}

	private List<Second> of(Phase of) {
		return this.seconds.stream().filter((second) -> second.phase() == of).toList();
	}

	private String aSecond(Phase of) {
		Map<String, Integer> sums = new TreeMap<>();
		List<Second> some = of(of);
		some.forEach((second) -> second.answers().forEach((kind, count) -> sums.merge(kind, count, Integer::sum)));
		List<String> parts = new ArrayList<>();
		sums.forEach((kind, count) -> parts
			.add(String.format(Locale.ROOT, "%s: %.1f", kind, (double) count / Math.max(1, some.size()))));
		int least = some.stream()
			.mapToInt((second) -> second.answers().values().stream().mapToInt(Integer::intValue).sum())
			.min()
			.orElse(0);
		return String.join(", ", parts) + " (at least " + least + ")";
	}

	private String healthBySecond(Phase of) {
		StringBuilder text = new StringBuilder();
		String last = "";
		int times = 0;
		for (Second second : of(of)) {
			if (!second.health().equals(last)) {
				append(text, last, times);
				last = second.health();
				times = 0;
			}
			times++;
		}
		append(text, last, times);
		return text.toString();
	}

	private static void append(StringBuilder text, String health, int times) {
		if (times > 0) {
			text.append(text.isEmpty() ? "" : ", ").append(health).append(' ').append(times);
		}
	}

	private static String seconds(@Nullable Duration duration) {
		return (duration != null) ? String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0) : "–";
	}

	/** Ends the calls, so that their answers can be compared with their effects. */
	@Override
	public void close() throws InterruptedException {
		this.load.close();
		this.watch.shutdownNow();
		this.log.close();
	}

	/** Part of a run. */
	private enum Phase {

		BEFORE, DURING, AFTER, OVER

	}

	/**
	 * One second.
	 *
	 * @param answers how many calls were answered, by kind
	 * @param health the last status that was seen
	 */
	private record Second(Phase phase, Map<String, Integer> answers, String health) {
	}

}
