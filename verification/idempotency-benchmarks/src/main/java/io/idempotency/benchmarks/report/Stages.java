package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import io.idempotency.benchmarks.application.LoadApplication;
import io.idempotency.it.servers.OtherJvm;

/** All stages, with the goals that were set for them. */
final class Stages {

	private static final String MEMORY = "--idempotency.store=memory";

	/** Room for all keys of a run: a full store is measured nowhere. */
	private static final String ROOM = "--idempotency.memory.max-size=512MB";

	private static final String METRICS = Peer.argument(LoadApplication.OBSERVED);

	private static final String PLAIN = "/plain FRESH";

	private static final String RAW = "/raw FRESH";

	private static final String FRESH = "/guarded FRESH";

	private static final String REPLAY = "/guarded REPLAY";

	private static final String DUPLICATES = "/guarded DUPLICATES";

	private static final String TRANSACTION = "/transaction FRESH";

	/** The delays of the network, in milliseconds for a round trip. */
	private static final List<Integer> NETWORKS = List.of(1, 5);

	private final StoreServers servers;

	Stages(StoreServers servers) {
		this.servers = servers;
	}

	List<Stage> all() throws IOException {
		List<Stage> all = new ArrayList<>();
		all.add(memory());
		Jdk.withVirtualThreads().ifPresent((jdk) -> all.add(virtualThreads(jdk)));
		all.add(kilobyte());
		all.add(redis());
		all.add(postgreSql(0));
		all.add(byHand());
		for (int millis : NETWORKS) {
			all.add(slowRedis(millis));
			all.add(postgreSql(millis));
		}
		all.add(reactiveMemory());
		all.add(reactiveRedis());
		all.add(reactivePostgreSql());
		all.add(listener());
		all.add(observed());
		all.add(observedAtTheEnd());
		all.add(untouched());
		all.add(filter());
		all.add(lock4j());
		all.add(pig4cloud());
		return all;
	}

	private static Stage memory() {
		return Stage.of("Memory", "memory", List.of(MEMORY, ROOM), List.of(
				Figure.of("fresh ÷ unguarded", FRESH, PLAIN).atLeast("memory, fresh ÷ unguarded", 0.95),
				Figure.of("replay ÷ unguarded", REPLAY, PLAIN)
					.atLeast("memory, replay ÷ unguarded, where nothing but the guard protects the method", 2),
				Figure.of("replay, own binder ÷ unguarded", "/checked REPLAY", PLAIN)
					.atLeast("memory, replay ÷ unguarded, where the application takes part in the binding", 1.2),
				Figure.of("40 % duplicates ÷ unguarded", DUPLICATES, PLAIN),
				Figure.of("one hot key ÷ unguarded", "/guarded HOT", PLAIN)));
	}

	private static Stage virtualThreads(Jdk jdk) {
		return Stage
			.of("Memory, virtual threads", "memory", List.of(MEMORY, ROOM, "--spring.threads.virtual.enabled=true"),
					List.of(Figure.of("virtual threads: fresh ÷ unguarded", FRESH, PLAIN),
							Figure.of("virtual threads: replay ÷ unguarded", REPLAY, PLAIN),
							Figure.of("virtual threads: 40 % duplicates ÷ unguarded", DUPLICATES, PLAIN),
							Figure.of("virtual threads: one hot key ÷ unguarded", "/guarded HOT", PLAIN)))
			.on(jdk);
	}

	private static Stage kilobyte() {
		return Stage
			.of("Memory, 1 KB in and out", "", List.of(MEMORY, ROOM), List.of(
					Figure.of("1 KB, fresh ÷ unguarded", FRESH, PLAIN)
						.bytesAtMost("bytes allocated beyond the unguarded call, 1 KB in and out, fresh", 8 * 1024),
					Figure.of("1 KB, replay ÷ unguarded", REPLAY, PLAIN)
						.bytesAtMost("bytes allocated beyond the unguarded call, 1 KB in and out, replay", 3 * 1024)))
			.withBody(1024);
	}

	private Stage redis() throws IOException {
		return Stage.of("Redis", "redis", this.servers.redis(0),
				List.of(Figure.of("fresh ÷ unguarded", FRESH, PLAIN),
						Figure.of("fresh ÷ two raw commands", FRESH, RAW)
							.atLeast("Redis, fresh ÷ unguarded with two raw commands (SET NX PX, SET)", 0.95),
						Figure.of("replay ÷ unguarded", REPLAY, PLAIN).atLeast("Redis, replay ÷ unguarded", 1),
						Figure.of("replay ÷ one raw command", REPLAY, "/raw-replay REPLAY"),
						Figure.of("40 % duplicates ÷ unguarded", DUPLICATES, PLAIN),
						Figure.of("two raw commands ÷ unguarded", RAW, PLAIN)));
	}

	private Stage slowRedis(int millis) throws IOException {
		String line = millis + " ms: ";
		return Stage.of("Redis, a round trip of " + millis + " ms", "redis", this.servers.redis(millis),
				List.of(Figure.of(line + "fresh ÷ two raw commands", FRESH, RAW),
						Figure.of(line + "replay ÷ two raw commands", REPLAY, RAW)));
	}

	private Stage postgreSql(int millis) throws IOException {
		List<String> arguments = this.servers.postgreSql(millis);
		if (millis > 0) {
			return Stage.of("PostgreSQL, a round trip of " + millis + " ms", "postgresql", arguments,
					transactions(millis + " ms: "));
		}
		List<Figure> figures = transactions("");
		return Stage.of("PostgreSQL", "postgresql", arguments,
				List.of(figures.get(0).atLeast("PostgreSQL `JOIN`, fresh ÷ the same transaction unguarded", 0.8),
						figures.get(1).atLeast("PostgreSQL `JOIN`, replay ÷ unguarded transaction", 2),
						figures.get(2).atLeast("PostgreSQL `SEPARATE`, fresh ÷ the same transaction unguarded", 0.5),
						figures.get(3)));
	}

	private static List<Figure> transactions(String line) {
		return List.of(Figure.of(line + "JOIN, fresh ÷ the same transaction", "/joined FRESH", TRANSACTION),
				Figure.of(line + "JOIN, replay ÷ the same transaction", "/joined REPLAY", TRANSACTION),
				Figure.of(line + "SEPARATE, fresh ÷ the same transaction", "/separate FRESH", TRANSACTION),
				Figure.of(line + "SEPARATE, replay ÷ the same transaction", "/separate REPLAY", TRANSACTION));
	}

	/** The trips that a record in the transaction takes, whoever makes it. */
	private Stage byHand() throws IOException {
		String joined = "/joined FRESH";
		String recorded = "/recorded-by-hand FRESH";
		return Stage.of("PostgreSQL, a record by hand", "", this.servers.postgreSql(0), List.of(
				Figure.of("claim by hand (three trips) ÷ the same transaction", "/claimed-by-hand FRESH", TRANSACTION),
				Figure.of("claim and record by hand (four trips) ÷ the same transaction", recorded, TRANSACTION),
				Figure.of("JOIN, fresh (four trips) ÷ the same transaction", joined, TRANSACTION),
				Figure.of("JOIN, fresh ÷ claim and record by hand", joined, recorded)));
	}

	private static Stage observed() {
		return Stage
			.of("Metrics", "", List.of(MEMORY, ROOM, METRICS), List.of(
					Figure.of("memory, fresh, with metrics ÷ without", FRESH, FRESH)
						.atLeast("memory, fresh, with metrics ÷ without", 0.95)
						.closely(),
					Figure.of("memory, replay, with metrics ÷ without", REPLAY, REPLAY)
						.atLeast("memory, replay, with metrics ÷ without", 0.95)
						.closely(),
					Figure.of("unguarded, in an observation of Micrometer ÷ without", "/observed FRESH", PLAIN)))
			.beside(List.of(MEMORY, ROOM));
	}

	/** As with {@code management.observations.long-task-timer.enabled=false}. */
	private static Stage observedAtTheEnd() {
		return Stage
			.of("Metrics without timers of active calls", "",
					List.of(MEMORY, ROOM, METRICS, "--load.ignored-meters=LONG_TASK_TIMER"),
					List.of(Figure.of("no active timers: fresh, with metrics ÷ without", FRESH, FRESH),
							Figure.of("no active timers: replay, with metrics ÷ without", REPLAY, REPLAY)))
			.beside(List.of(MEMORY, ROOM));
	}

	private static Stage untouched() {
		return Stage
			.of("Endpoint without the annotation", "", List.of(MEMORY),
					List.of(untouched("POST", PLAIN), untouched("GET", "GET/plain FRESH")))
			.beside(List.of("--idempotency.enabled=false"));
	}

	private static Figure untouched(String method, String order) {
		return Figure.of(method + ", with the starter ÷ `idempotency.enabled=false`", order, order)
			.atLeast(method + " of an endpoint without `@Idempotent`, application with the starter ÷ without", 0.99)
			.closely();
	}

	/** The goals on WebFlux are those on Spring MVC. */
	private static Stage reactiveMemory() {
		return Stage.of("WebFlux, memory", "webflux", List.of(MEMORY, ROOM),
				List.of(Figure.of("WebFlux, memory: fresh ÷ unguarded", FRESH, PLAIN)
					.atLeast("WebFlux, memory, fresh ÷ unguarded", 0.95),
						Figure.of("WebFlux, memory: replay ÷ unguarded", REPLAY, PLAIN)))
			.reactive();
	}

	private Stage reactiveRedis() throws IOException {
		return Stage.of("WebFlux, Redis", "webflux", this.servers.redis(0),
				List.of(Figure.of("WebFlux, Redis: fresh ÷ unguarded", FRESH, PLAIN),
						Figure.of("WebFlux, Redis: fresh ÷ two raw commands", FRESH, RAW)
							.atLeast("WebFlux, Redis, fresh ÷ unguarded with two raw commands", 0.95),
						Figure.of("WebFlux, Redis: replay ÷ unguarded", REPLAY, PLAIN)
							.atLeast("WebFlux, Redis, replay ÷ unguarded", 1)))
			.reactive();
	}

	private Stage reactivePostgreSql() {
		return Stage.of("WebFlux, PostgreSQL over R2DBC", "webflux", this.servers.r2dbc(), List.of(
				Figure.of("WebFlux, R2DBC: `SEPARATE`, fresh ÷ the same transaction", "/separate FRESH", TRANSACTION)
					.atLeast("WebFlux, PostgreSQL over R2DBC, `SEPARATE`, fresh ÷ the same transaction unguarded", 0.5),
				Figure.of("WebFlux, R2DBC: `SEPARATE`, replay ÷ the same transaction", "/separate REPLAY",
						TRANSACTION)))
			.reactive();
	}

	/** Many deliveries in a request, one after the other. */
	private Stage listener() throws IOException {
		return Stage.of("PostgreSQL, a listener that does nothing", "", this.servers.postgreSql(0),
				List.of(Figure
					.of("empty listener with JOIN ÷ a transaction with one insert", "/deliveries FRESH",
							"/inserts FRESH")
					.atLeast("PostgreSQL, an empty listener with `JOIN` ÷ a transaction with one insert", 0.45)));
	}

	private Stage filter() throws IOException {
		return Stage.of("Peer on Redis: a filter by hand", "",
				with(this.servers.redis(0), Peer.argument(LoadApplication.FILTER)),
				List.of(Figure.of("filter: fresh ÷ unguarded", "/filtered FRESH", PLAIN),
						Figure.of("filter: replay, the same status, type and body ÷ unguarded", "/filtered REPLAY",
								PLAIN),
						Figure.of("filter: in flight, 409 ÷ unguarded", "/filtered-running RUNNING", PLAIN),
						Figure.of("fresh ÷ filter", FRESH, "/filtered FRESH"),
						Figure.of("replay ÷ filter", REPLAY, "/filtered REPLAY"),
						Figure.of("in flight, 409 ÷ unguarded", "/guarded-running RUNNING", PLAIN)));
	}

	private Stage lock4j() throws IOException {
		return Stage.of("Peer on Redis: lock4j, which only locks and replays nothing", "",
				with(this.servers.redis(0), Peer.LOCK4J.argument()),
				List.of(Figure.of("lock4j: fresh ÷ unguarded", "/locked FRESH", PLAIN),
						Figure.of("lock4j: after the first call, runs again ÷ unguarded", "/locked REPLAY", PLAIN),
						Figure.of("lock4j: in flight, rejected ÷ unguarded", "/locked-running RUNNING", PLAIN),
						Figure.of("fresh ÷ lock4j", FRESH, "/locked FRESH")));
	}

	private Stage pig4cloud() throws IOException {
		return Stage.of("Peer on Redis: the starter of pig4cloud, which keeps the key and no answer", "",
				with(this.servers.redis(0), Peer.PIG4CLOUD.argument()),
				List.of(Figure.of("pig4cloud: fresh ÷ unguarded", "/kept-key FRESH", PLAIN),
						Figure.of("pig4cloud: after the first call, rejected ÷ unguarded", "/kept-key REJECTED", PLAIN),
						Figure.of("pig4cloud: in flight, rejected ÷ unguarded", "/kept-key-running RUNNING", PLAIN),
						Figure.of("fresh ÷ pig4cloud", FRESH, "/kept-key FRESH")));
	}

	private static List<String> with(List<String> arguments, String... more) {
		return Stream.concat(arguments.stream(), Stream.of(more)).toList();
	}

	/**
	 * What is measured on one application, or on two that differ in a setting.
	 *
	 * @param name its name
	 * @param chart the chart that its ratios are in, empty if they are in none
	 * @param jdk what the applications run on
	 * @param stack which stack they have
	 * @param body how many bytes a body has
	 * @param measured the arguments of the application that is measured
	 * @param base the arguments of the one beside it, {@code null} for the same one
	 * @param figures the figures
	 */
	record Stage(String name, String chart, Jdk jdk, OtherJvm.Stack stack, int body, List<String> measured,
			List<String> base, List<Figure> figures) {

		static Stage of(String name, String chart, List<String> arguments, List<Figure> figures) {
			return new Stage(name, chart, Jdk.current(), OtherJvm.Stack.SERVLET, Settings.BODY, arguments, null,
					figures);
		}

		Stage on(Jdk newJdk) {
			return new Stage(this.name, this.chart, newJdk, this.stack, this.body, this.measured, this.base,
					this.figures);
		}

		Stage withBody(int size) {
			return new Stage(this.name, this.chart, this.jdk, this.stack, size, this.measured, this.base, this.figures);
		}

		Stage beside(List<String> arguments) {
			return new Stage(this.name, this.chart, this.jdk, this.stack, this.body, this.measured, arguments,
					this.figures);
		}

		Stage reactive() {
			return new Stage(this.name, this.chart, this.jdk, OtherJvm.Stack.REACTIVE, this.body, this.measured,
					this.base, this.figures);
		}

		void measure(Settings settings, Page page) throws Exception {
			try (LoadedServer server = LoadedServer.start(this.jdk, this.stack, this.measured, this.body);
					LoadedServer other = (this.base != null)
							? LoadedServer.start(this.jdk, this.stack, this.base, this.body) : null) {
				LoadedServer beside = (other != null) ? other : server;
				List<String> orders = orders(Figure::measured);
				List<String> base = orders(Figure::base);
				if (other != null) {
					other.warmUp(base, settings.warmUp(), page);
				}
				else {
					orders = Stream.concat(orders.stream(), base.stream()).distinct().toList();
				}
				server.warmUp(orders, settings.warmUp(), page);
				Pairs pairs = new Pairs(settings);
				List<Figure.Measured> results = new ArrayList<>();
				for (Figure figure : this.figures) {
					results.add(pairs.measure(figure, server, beside));
				}
				page.add(this, results);
			}
		}

		private List<String> orders(Function<Figure, String> variant) {
			return this.figures.stream().map(variant).distinct().toList();
		}

	}

}
