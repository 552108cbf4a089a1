package io.idempotency.benchmarks.house;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.idempotency.benchmarks.house.Way.Entry;
import io.idempotency.benchmarks.house.Way.Frame;

import static org.assertj.core.api.Assertions.assertThat;

/** A short way, counted. */
class WayTests {

	private static final String INTERCEPTOR = "io.idempotency.interceptor.IdempotencyInterceptor#invoke";

	private static final String ENGINE = "io.idempotency.engine.Engine#execute";

	private static final String STORE = "io.idempotency.store.jdbc.Store#claim";

	private final Way way = new Way(List.of(entered(INTERCEPTOR, "java.lang.Thread#run"),
			entered("io.idempotency.engine.Engine#<init>", INTERCEPTOR), entered(ENGINE, INTERCEPTOR),
			entered("io.idempotency.engine.Engine$Run#run", "java.util.Map#compute", ENGINE, INTERCEPTOR),
			new Entry(frames("io.idempotency.key.Key#value", ENGINE, INTERCEPTOR), true),
			entered("io.idempotency.key.LengthPrefixedDigest#add", ENGINE, INTERCEPTOR),
			entered("driver.PreparedStatement#execute", "io.idempotency.samples.Shop#price", ENGINE, INTERCEPTOR),
			entered("io.idempotency.store.jdbc.Store$$Lambda$1/2#run", ENGINE, INTERCEPTOR),
			entered(STORE, "io.idempotency.store.jdbc.Store$$Lambda$1/2#run", ENGINE, INTERCEPTOR),
			entered("driver.PreparedStatement#execute", STORE, "io.idempotency.store.jdbc.Store$$Lambda$1/2#run",
					ENGINE, INTERCEPTOR, "org.springframework.Proxy#proceed", "io.idempotency.web.Filter#doFilter")));

	@Test
	void classesAreThoseThatSomebodyWrote() {
		assertThat(this.way.classes()).isEqualTo(5);
		assertThat(this.way.methods()).isEqualTo(7);
	}

	@Test
	void moveIsACallIntoAnotherClass() {
		assertThat(this.way.moves()).as("the engine, the store").isEqualTo(2);
	}

	@Test
	void framesLeadFromTheInterceptorToTheFirstStatementOfTheStore() {
		assertThat(this.way.framesToStatement()).containsExactlyElementsOf(frames(STORE, ENGINE, INTERCEPTOR));
		assertThat(this.way.framesToStatement().stream().filter(Frame::isJdbc)).hasSize(1);
		assertThat(new Way(this.way.entries().subList(0, 7)).framesToStatement()).isEmpty();
	}

	@Test
	void logIsAsDeepAsTheCallIsInTheLibrary() {
		assertThat(this.way.log()).startsWith("""
				io.idempotency.interceptor.IdempotencyInterceptor.invoke
				  io.idempotency.engine.Engine.<init>
				  io.idempotency.engine.Engine.execute
				    io.idempotency.engine.Engine$Run.run
				""");
	}

	private static Entry entered(String... innermostFirst) {
		return new Entry(frames(innermostFirst), false);
	}

	private static List<Frame> frames(String... innermostFirst) {
		return Stream.of(innermostFirst)
			.map((each) -> each.split("#"))
			.map((each) -> new Frame(each[0], each[1]))
			.toList();
	}

}
