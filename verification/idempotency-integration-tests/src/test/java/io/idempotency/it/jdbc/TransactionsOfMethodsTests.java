package io.idempotency.it.jdbc;

import java.util.UUID;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.NameMatchTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The guard believes the application's own advice about which transaction a method asks
 * for, however that was configured.
 */
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class TransactionsOfMethodsTests {

	private final ApplicationContextRunner runner;

	TransactionsOfMethodsTests(TestDatabase database) {
		DataSource pool = database.sharedPool("pool", 6);
		database.once("work", () -> new JdbcTemplate(pool).execute("create table work (id varchar(100))"));
		this.runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues("idempotency.store=jdbc")
			.withBean("dataSource", DataSource.class, () -> pool, TransactionsOfMethodsTests::ofOurs)
			.withUserConfiguration(Application.class)
			.withBean(Payments.class);
	}

	/** The context leaves it open for the next one. */
	private static void ofOurs(BeanDefinition definition) {
		((AbstractBeanDefinition) definition).setDestroyMethodName("");
	}

	@Test
	void methodThatIsNotPublicMayHaveATransactionOfItsOwn() {
		this.runner.run((context) -> assertDoneByItself(context, context.getBean(Payments.class)::payInItsPackage));
	}

	@Test
	void methodThatIsNotPublicCannotJoinATransactionOfItsOwn() {
		this.runner.withBean(JoinedInItsPackage.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("starts a separate transaction"));
	}

	@Test
	void methodThatTheApplicationGivesNoTransactionIsAPartOfItsCallers() {
		this.runner.withUserConfiguration(OnlyPublicMethods.class)
			.run((context) -> assertUndoneWithItsCaller(context, context.getBean(Payments.class)::payInItsPackage));
	}

	@Test
	void transactionMayBeThatOfAnAdviceByNames() {
		this.runner.withUserConfiguration(AdviceByNames.class).run((context) -> {
			Payments payments = context.getBean(Payments.class);
			assertDoneByItself(context, payments::payPlainly);
			assertUndoneWithItsCaller(context, payments::bookPlainly);
		});
	}

	private void assertDoneByItself(ApplicationContext context, Consumer<String> pay) {
		String id = UUID.randomUUID().toString();
		inARollback(context, () -> pay.accept(id));
		assertThat(count(context, id)).isEqualTo(1);
		pay.accept(id);
		assertThat(count(context, id)).isEqualTo(1);
	}

	private void assertUndoneWithItsCaller(ApplicationContext context, Consumer<String> pay) {
		String id = UUID.randomUUID().toString();
		inARollback(context, () -> pay.accept(id));
		assertThat(count(context, id)).isZero();
		pay.accept(id);
		assertThat(count(context, id)).isEqualTo(1);
	}

	private static void inARollback(ApplicationContext context, Runnable work) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
			work.run();
			status.setRollbackOnly();
		});
	}

	private static int count(ApplicationContext context, String id) {
		Integer count = new JdbcTemplate(context.getBean(DataSource.class))
			.queryForObject("select count(*) from work where id = ?", Integer.class, id);
		return (count != null) ? count : 0;
	}

	static class Payments {

		private final JdbcTemplate jdbc;

		Payments(DataSource data) {
			this.jdbc = new JdbcTemplate(data);
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Idempotent("#id")
		void payInItsPackage(String id) {
			work(id);
		}

		@Idempotent("#id")
		public void payPlainly(String id) {
			work(id);
		}

		@Idempotent("#id")
		public void bookPlainly(String id) {
			work(id);
		}

		private void work(String id) {
			this.jdbc.update("insert into work values (?)", id);
		}

	}

	static class JoinedInItsPackage {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		void pay(String id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Application {

		@Bean
		PlatformTransactionManager manager(DataSource data) {
			return new JdbcTransactionManager(data);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnlyPublicMethods {

		@Bean
		@Primary
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static TransactionAttributeSource publicOnly() {
			return new AnnotationTransactionAttributeSource(true);
		}

	}

	/** As {@code <tx:advice>} makes it. */
	@Configuration(proxyBeanMethods = false)
	static class AdviceByNames {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor byNames(PlatformTransactionManager manager) {
			NameMatchTransactionAttributeSource source = new NameMatchTransactionAttributeSource();
			source.addTransactionalMethod("*",
					new DefaultTransactionAttribute(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.addMethodName("pay*");
			TransactionManager known = manager;
			return new DefaultPointcutAdvisor(pointcut, new TransactionInterceptor(known, source));
		}

	}

}
