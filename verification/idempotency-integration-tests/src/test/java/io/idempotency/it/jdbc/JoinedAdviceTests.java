package io.idempotency.it.jdbc;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.SchedulerThread;
import org.aopalliance.intercept.MethodInterceptor;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.util.AopTestUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.util.ContentCachingResponseWrapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A handler with {@code transaction = JOIN} that is called once more in one request, by
 * advice outside of the guard or by a forward: the transaction and the claim of the first
 * call may be over by then.
 */
@StoreAlone
@ExtendWith(OutputCaptureExtension.class)
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class JoinedAdviceTests {

	/** As advice does that has an order below that of the guard. */
	private static final MethodInterceptor RETRY = (call) -> {
		try {
			return ((ProxyMethodInvocation) call).invocableClone().proceed();
		}
		catch (IllegalStateException ex) {
			return call.proceed();
		}
	};

	private final String ref = UUID.randomUUID().toString();

	private final AdvisedApplication.Charges charges;

	private final JdbcTemplate jdbc;

	private final Client client;

	JoinedAdviceTests(TestDatabase database) {
		ConfigurableApplicationContext application = database.share("application",
				() -> AdvisedApplication.start(database));
		this.charges = AopTestUtils.getTargetObject(application.getBean(AdvisedApplication.Charges.class));
		this.charges.around = AdvisedApplication.NOTHING;
		this.charges.runs.set(0);
		this.charges.work = (run) -> {
		};
		this.jdbc = database.jdbc();
		this.client = new Client(
				Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port")));
	}

	/** The first run of the request has rolled back, and its duplicate has run since. */
	@Test
	void repeatedCallGivesTheAnswerOfTheDuplicateThatHasRunMeanwhile() {
		AtomicReference<Answer> duplicate = new AtomicReference<>();
		this.charges.around = (call) -> {
			try {
				return ((ProxyMethodInvocation) call).invocableClone().proceed();
			}
			catch (IllegalStateException ex) {
				duplicate.set(post("/charge"));
				return call.proceed();
			}
		};
		failIn(1);
		Answer answer = post("/charge");
		assertThat(duplicate.get().text()).isEqualTo("charge in run 2");
		assertThat(answer.text()).isEqualTo("charge in run 2");
		assertThat(answer.replayed()).isTrue();
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	@Test
	void repeatedCallIsGuardedAnewAndItsAnswerIsKept() {
		this.charges.around = RETRY;
		failIn(1);
		Answer first = post("/charge");
		assertThat(first.status()).isEqualTo(201);
		assertThat(first.text()).isEqualTo("charge in run 2");
		Answer second = post("/charge");
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	@Test
	void repeatedCallThatFailsHalfWayIsRolledBack() {
		this.charges.around = RETRY;
		this.charges.work = (run) -> {
			throw new IllegalStateException("run " + run);
		};
		assertThat(post("/charge").status()).isEqualTo(500);
		assertThat(this.charges.runs).hasValue(2);
		assertThat(rows(this.ref)).isZero();
		failIn(0);
		assertThat(post("/charge").text()).isEqualTo("charge in run 3");
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	/**
	 * The first call has returned, and its transaction is open until the answer is made.
	 */
	@Test
	void callBehindOneThatHasReturnedIsInItsTransaction() {
		this.charges.around = (call) -> {
			Object first = ((ProxyMethodInvocation) call).invocableClone().proceed();
			try {
				return call.proceed();
			}
			catch (IllegalStateException ex) {
				return first;
			}
		};
		failIn(2);
		assertThat(post("/charge").status()).isEqualTo(500);
		assertThat(rows(this.ref)).isZero();
		failIn(0);
		assertThat(post("/charge").text()).isEqualTo("charge in run 4");
		assertThat(post("/charge").replayed()).isTrue();
		assertThat(rows(this.ref)).isEqualTo(2);
	}

	/** The answer is made behind a wrapper, so the first call has committed. */
	@Test
	void callBehindOneThatHasCommittedIsRejected() {
		this.charges.around = (call) -> {
			((ProxyMethodInvocation) call).invocableClone().proceed();
			return call.proceed();
		};
		assertThat(post("/charge?wrapped=true").status()).isEqualTo(500);
		assertThat(rows(this.ref)).isEqualTo(1);
		assertThat(post("/charge?wrapped=true").text()).contains("result-unavailable");
		assertThat(this.charges.runs).hasValue(1);
	}

	@Test
	void wrapperThatKeepsAnAnswerFromItsTransactionIsNamedOnce(CapturedOutput output) {
		post("/fallback?wrapped=true");
		post("/fallback?wrapped=true");
		assertThat(output.getAll().lines()).filteredOn((line) -> line.contains("#fallback(String)' are stored after"))
			.singleElement(InstanceOfAssertFactories.STRING)
			.contains("INFO", ContentCachingResponseWrapper.class.getName());
	}

	@Test
	void forwardOfACommittedHandlerRunsInATransactionOfItsOwn() {
		Answer first = post("/order");
		assertThat(first.text()).isEqualTo("charge in run 1");
		assertThat(post("/order").replayed()).isTrue();
		assertThat(rows(this.ref)).isEqualTo(1);
		assertThat(rows(this.ref + "-order")).isEqualTo(1);
	}

	@Test
	void forwardOfACommittedHandlerThatFailsHalfWayIsRolledBack() {
		failIn(1);
		assertThat(post("/order").status()).isEqualTo(500);
		assertThat(rows(this.ref)).isZero();
		assertThat(rows(this.ref + "-order")).isEqualTo(1);
		assertThat(post("/order").text()).contains("result-unavailable");
		assertThat(this.charges.runs).hasValue(1);
	}

	/** Nothing is left of the claim of the handler that has failed. */
	@Test
	void forwardOfAFailedHandlerIsGuarded() {
		Answer first = post("/fallback");
		assertThat(first.text()).isEqualTo("charge in run 1");
		Answer second = post("/fallback");
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(second.replayed()).isTrue();
		assertThat(rows(this.ref)).isEqualTo(1);
		assertThat(rows(this.ref + "-order")).isZero();
	}

	/** As a home-made time limit does, which carries the request over. */
	@Test
	void answerOfWorkOnAnotherThreadHasCommittedBeforeItIsSent() {
		this.charges.around = (call) -> {
			RequestAttributes request = RequestContextHolder.currentRequestAttributes();
			return CompletableFuture.supplyAsync(() -> {
				RequestContextHolder.setRequestAttributes(request);
				try {
					return call.proceed();
				}
				catch (Throwable ex) {
					throw new IllegalStateException(ex);
				}
			}, SchedulerThread::start).get(1, TimeUnit.MINUTES);
		};
		Answer first = post("/charge");
		assertThat(first.text()).isEqualTo("charge in run 1");
		assertThat(rows(this.ref)).isEqualTo(1);
		Answer second = post("/charge");
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
	}

	/** Its status had left before it failed. */
	@ParameterizedTest
	@ValueSource(strings = { "/write", "/write-apart" })
	void handlerThatFailsBehindTooLargeAnAnswerOfItsOwnIsFree(String path) {
		for (int run = 1; run <= 2; run++) {
			Answer answer = post(path);
			assertThat(answer.body()).hasSizeLessThan(200_004);
			assertThat(this.charges.runs).hasValue(run);
		}
		assertThat(rows(this.ref)).isZero();
	}

	private void failIn(int failing) {
		this.charges.work = (run) -> {
			if (run == failing) {
				throw new IllegalStateException("run " + run);
			}
		};
	}

	private Answer post(String path) {
		return this.client.post(path + (path.contains("?") ? "&" : "?") + "ref=" + this.ref, this.ref);
	}

	private int rows(String reference) {
		return this.jdbc.queryForObject("select count(*) from charge where ref = ?", Integer.class, reference);
	}

}
