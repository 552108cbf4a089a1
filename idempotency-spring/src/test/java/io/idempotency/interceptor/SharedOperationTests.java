package io.idempotency.interceptor;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/** Methods that share an operation share its keys: their transactions must fit. */
class SharedOperationTests {

	@Test
	void joinedAndSeparateMethodsOfOneOperationAreRejected() {
		assertThat(Rejections.of(Joined.class, Separate.class)).hasMessageContaining("'pay'")
			.hasMessageContaining(Joined.class.getName() + "#run(String)")
			.hasMessageContaining(Separate.class.getName() + "#run(String)")
			.hasMessageContaining("transaction = JOIN");
		assertThat(Rejections.of(Separate.class, Joined.class)).hasMessageContaining(Joined.class.getName())
			.hasMessageContaining(Separate.class.getName());
	}

	@Test
	void methodsThatFitMayShareOne() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Separate.class,
				AlsoSeparate.class)) {
			assertThat(context.isActive()).isTrue();
		}
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Joined.class, AlsoJoined.class)) {
			assertThat(context.isActive()).isTrue();
		}
	}

	@Test
	void aMethodThatIsFoundTwiceIsOne() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Joined.class)) {
			IdempotentOperationSource source = context.getBean(IdempotentOperationSource.class);
			source.check(Joined.class);
			source.check(context.getBean(Joined.class).getClass());
			assertThat(source.operation(Payment.class.getMethods()[0], Joined.class)).isNotNull();
		}
	}

	/** Nobody means a credit by the key of a debit. */
	@Test
	void aNameOnAClassIsRejectedForASecondMethod() {
		assertThat(Rejections.of(Accounts.class)).hasMessageContaining("'accounts'")
			.hasMessageContaining("#debit(String)")
			.hasMessageContaining("#credit(String)");
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(OneAccount.class, Account.class)) {
			assertThat(context.isActive()).isTrue();
		}
	}

	@Idempotent(operation = "accounts", key = "#a0")
	static class Accounts {

		public String debit(String id) {
			return "debit " + id;
		}

		public String credit(String id) {
			return "credit " + id;
		}

	}

	@Idempotent(operation = "account", key = "#a0")
	static class OneAccount {

		public String debit(String id) {
			return "debit " + id;
		}

	}

	/** Shares the keys of the other class on purpose. */
	@Idempotent(operation = "account", key = "#a0")
	static class Account {

		public String debit(String id) {
			return "debit " + id;
		}

		@Idempotent(operation = "account.credit", key = "#a0")
		public String credit(String id) {
			return "credit " + id;
		}

	}

	interface Payment {

		void run(String key);

	}

	static class Joined implements Payment {

		@Override
		@Idempotent(key = "#key", operation = "pay", transaction = TransactionMode.JOIN, store = "joining")
		public void run(String key) {
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new StartupFailureTests.JoiningStore();
		}

		@Bean
		static PlatformTransactionManager transactionManager() {
			return StartupFailureTests.JoiningStore.transactionManager();
		}

	}

	static class AlsoJoined extends Joined {

		@Override
		public void run(String key) {
		}

	}

	static class Separate implements Payment {

		@Override
		@Idempotent(key = "#key", operation = "pay")
		public void run(String key) {
		}

	}

	static class AlsoSeparate {

		@Idempotent(key = "#key", operation = "pay")
		public void run(String key) {
		}

	}

}
