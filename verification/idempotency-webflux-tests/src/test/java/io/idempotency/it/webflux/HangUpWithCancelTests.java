package io.idempotency.it.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoOperator;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The work of a client that hangs up is cancelled: its end is not known. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "idempotency.http.on-disconnect=cancel")
@Import({ HangUpWithCancelTests.Late.class, HangUpWithCancelTests.LateController.class })
class HangUpWithCancelTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	@Test
	void workIsCancelledAndTheKeyIsLeftToItsLease() throws Exception {
		try (RawClient client = new RawClient(this.port)) {
			client.send("/cancelled", this.key, "X-Gate: " + this.key + "\r\n", 0, "");
			await().until(() -> runs("gate " + this.key) == 1);
		}
		await().until(() -> runs("cancelled " + this.key) == 1);
		OrdersController.GATES.get(this.key).tryEmitEmpty();
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + "/cancelled"))
			.header("Idempotency-Key", this.key)
			.header("X-Gate", this.key)
			.timeout(PATIENCE)
			.POST(HttpRequest.BodyPublishers.noBody())
			.build();
		HttpResponse<String> repeated = await().until(
				() -> HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()),
				(answer) -> answer.statusCode() == 200);
		assertThat(repeated.body()).isEqualTo("answer");
		assertThat(repeated.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(runs("gate " + this.key)).isEqualTo(2);
	}

	/**
	 * The key was free when the work was about to begin on another thread, and somebody
	 * else has run with it.
	 */
	@Test
	void workThatHasNotBegunBeginsNoMoreWhenItsClientIsGone() throws Exception {
		Moment moment = new Moment(Mono.never());
		Late.held = moment;
		try (RawClient client = new RawClient(this.port)) {
			client.send("/late", this.key, "", 0, "");
			moment.reached.await();
		}
		assertThatOnlyTheNextOneRuns(moment);
	}

	/** Advice that waits no longer is not the end of a thread, either. */
	@Test
	void workThatHasNotBegunBeginsNoMoreWhenAdviceHasGivenItUp() throws Exception {
		Moment moment = new Moment(Mono.error(new TeapotException()));
		Late.held = moment;
		assertThat(send("/late").status()).isEqualTo(418);
		assertThatOnlyTheNextOneRuns(moment);
	}

	/** Nor is an answer that is there before. */
	@Test
	void workThatHasNotBegunBeginsNoMoreWhenAdviceHasAnswered() throws Exception {
		Moment moment = new Moment(Mono.just("from advice"));
		Late.held = moment;
		assertThat(send("/late").text()).isEqualTo("from advice");
		assertThatOnlyTheNextOneRuns(moment);
	}

	private Answer send(String path) {
		return new Client(this.port).post(path, this.key, "application/json", "");
	}

	private void assertThatOnlyTheNextOneRuns(Moment late) throws Exception {
		Late.held = null;
		Answer next = await().until(() -> send("/late"), (answer) -> answer.status() != 409);
		assertThat(next.text()).isEqualTo("run 1");
		late.over.countDown();
		late.passed.await();
		assertThat(runs("late " + this.key)).isEqualTo(1);
		assertThat(send("/late").replayed()).isTrue();
	}

	@AfterEach
	void holdNoMore() {
		Late.held = null;
	}

	/** Just before a handler is called. */
	static final class Moment {

		/** Nobody else waits behind a task that does not let itself be interrupted. */
		private static final Scheduler THREADS = Schedulers.fromExecutor((task) -> new Thread(task).start());

		/** What the advice gives meanwhile. */
		private final Mono<Object> instead;

		final CountDownLatch reached = new CountDownLatch(1);

		final CountDownLatch over = new CountDownLatch(1);

		final CountDownLatch passed = new CountDownLatch(1);

		Moment(Mono<Object> instead) {
			this.instead = Mono.fromRunnable(() -> Late.await(this.reached)).subscribeOn(THREADS).then(instead);
		}

		Mono<Object> hold(Mono<Object> handled) {
			return Mono.firstWithSignal(new HeldMono<>(handled, this).subscribeOn(THREADS), this.instead);
		}

	}

	/** Advice outside of the guard that calls a handler on a thread of its own. */
	static class Late {

		static volatile Moment held;

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		@SuppressWarnings("unchecked")
		static Advisor late() {
			NameMatchMethodPointcut late = new NameMatchMethodPointcut();
			late.setMappedName("late");
			DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(late, (MethodInterceptor) (call) -> {
				Mono<Object> handled = (Mono<Object>) call.proceed();
				Moment moment = held;
				return (moment != null) ? moment.hold(handled) : handled;
			});
			advisor.setOrder(0);
			return advisor;
		}

		static void await(CountDownLatch latch) {
			boolean interrupted = true;
			while (interrupted) {
				try {
					latch.await();
					interrupted = false;
				}
				catch (InterruptedException ex) {
					// Cancelling a task interrupts it; this one goes on nevertheless.
				}
			}
		}

	}

	/** Subscribes when its moment is over, whatever has become of its subscriber. */
	static final class HeldMono<T> extends MonoOperator<T, T> {

		private final Moment moment;

		HeldMono(Mono<T> source, Moment moment) {
			super(source);
			this.moment = moment;
		}

		@Override
		public void subscribe(CoreSubscriber<? super T> actual) {
			this.moment.reached.countDown();
			Late.await(this.moment.over);
			this.source.subscribe(actual);
			this.moment.passed.countDown();
		}

	}

	@ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
	static class TeapotException extends RuntimeException {

	}

	@RestController
	static class LateController {

		@Idempotent
		@PostMapping("/late")
		Mono<String> late(@RequestHeader("Idempotency-Key") String key) {
			return Mono.just("run " + OrdersController.run("late " + key));
		}

	}

}
