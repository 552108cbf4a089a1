package io.idempotency.it.jdbc;

import java.util.UUID;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.autoconfigure.IdempotencyDataSource;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * An application with two databases, each with a transaction manager of its own: a call
 * is done when the transaction has committed that its work is in, and no other.
 */
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class TwoManagersTests {

	private final String id = UUID.randomUUID().toString();

	private final ApplicationContextRunner runner;

	TwoManagersTests(TestDatabase database) {
		DataSource shop = database.sharedPool("shop", 6);
		DataSource billing = database.share("billing", () -> database.another().newPool(6));
		this.runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues("idempotency.store=jdbc")
			.withBean("shopData", DataSource.class, () -> shop, TwoManagersTests::ofOurs, TwoManagersTests::ofRecords)
			.withBean("billingData", DataSource.class, () -> billing, TwoManagersTests::ofOurs)
			.withUserConfiguration(Managers.class)
			.withBean(Shop.class)
			.withBean(Billing.class)
			.withBean(QualifiedBilling.class);
	}

	/** The context leaves it open for the next one. */
	private static void ofOurs(BeanDefinition definition) {
		((AbstractBeanDefinition) definition).setDestroyMethodName("");
	}

	private static void ofRecords(BeanDefinition definition) {
		((AbstractBeanDefinition) definition).addQualifier(new AutowireCandidateQualifier(IdempotencyDataSource.class));
	}

	@Test
	void workThatHasCommittedInTheTransactionOfAnotherManagerIsDone() {
		this.runner.run((context) -> {
			Billing billing = context.getBean(Billing.class);
			assertChargedOnce(context, billing::charge);
		});
	}

	@Test
	void managerMayBeNamedByTheClass() {
		this.runner.run((context) -> {
			QualifiedBilling billing = context.getBean(QualifiedBilling.class);
			assertChargedOnce(context, billing::charge);
		});
	}

	@Test
	void managerMayBeTheOneOfTheConfiguration() {
		this.runner.withUserConfiguration(BillingIsTheDefault.class).run((context) -> {
			Billing billing = context.getBean(Billing.class);
			assertChargedOnce(context, billing::chargeByDefault);
		});
	}

	@Test
	void workThatCommitsByHandIsDoneWhereItsMethodSaysThatItIsApart() {
		this.runner.run((context) -> {
			Billing billing = context.getBean(Billing.class);
			TransactionTemplate byHand = transaction(context, "billing");
			assertChargedOnce(context, (id) -> billing.chargeByHand(id, byHand));
		});
	}

	/** The caller's transaction of the other manager rolls back. */
	private void assertChargedOnce(ApplicationContext context, Consumer<String> charge) {
		transaction(context, "shop").executeWithoutResult((status) -> {
			charge.accept(this.id);
			status.setRollbackOnly();
		});
		charge.accept(this.id);
		assertThat(count(context, "billing")).isEqualTo(1);
	}

	/** A call ends with the innermost transaction. */
	@Test
	void outerTransactionOfAnotherManagerIsNotSeen() {
		this.runner.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			transaction(context, "shop").executeWithoutResult((status) -> {
				transaction(context, "billing").executeWithoutResult((inner) -> shop.place(this.id));
				status.setRollbackOnly();
			});
			shop.place(this.id);
			assertThat(count(context, "shop")).isZero();
		});
	}

	@Test
	void transactionOfItsOwnInsideOfTheOtherOnesEndsItsOwnClaims() {
		this.runner.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			TransactionTemplate own = transaction(context, "shop");
			own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transaction(context, "shop").executeWithoutResult((status) -> {
				transaction(context, "billing")
					.executeWithoutResult((inner) -> own.executeWithoutResult((innermost) -> shop.place(this.id)));
				status.setRollbackOnly();
			});
			shop.place(this.id);
			assertThat(count(context, "shop")).isEqualTo(1);
		});
	}

	@Test
	void failedWorkThatJoinedATransactionLeavesNoClaimThatIsNobodys() {
		this.runner.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			context.getBean("shop", JdbcTransactionManager.class).setGlobalRollbackOnParticipationFailure(false);
			TransactionTemplate caller = transaction(context, "shop");
			try {
				caller.executeWithoutResult((status) -> assertThatIllegalStateException()
					.isThrownBy(() -> shop.joinAndFail(this.id, true)));
			}
			catch (UnexpectedRollbackException ex) {
				assertThat(count(context, "shop")).isZero();
			}
			shop.joinAndFail(this.id, false);
			assertThat(count(context, "shop")).isEqualTo(1);
		});
	}

	@Test
	void recordCannotJoinATransactionOfADatabaseThatHasNoRecords() {
		this.runner.withBean(JoinedBilling.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("No transaction is available")
				.hasMessageContaining("@Primary"));
	}

	private static TransactionTemplate transaction(ApplicationContext context, String manager) {
		return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
	}

	private int count(ApplicationContext context, String database) {
		Integer count = new JdbcTemplate(context.getBean(database + "Data", DataSource.class))
			.queryForObject("select count(*) from work where id = ?", Integer.class, this.id);
		return (count != null) ? count : 0;
	}

	/** Work on one database. */
	private abstract static class Work {

		private final JdbcTemplate jdbc;

		Work(DataSource data) {
			this.jdbc = new JdbcTemplate(data);
			this.jdbc.execute("create table if not exists work (id varchar(100))");
		}

		void work(String id) {
			this.jdbc.update("insert into work values (?)", id);
		}

	}

	static class Shop extends Work {

		Shop(@Qualifier("shopData") DataSource data) {
			super(data);
		}

		@Transactional("shop")
		@Idempotent("#id")
		public void place(String id) {
			work(id);
		}

		@Transactional("shop")
		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public void joinAndFail(String id, boolean fails) {
			work(id);
			if (fails) {
				throw new IllegalStateException("no");
			}
		}

	}

	static class Billing extends Work {

		Billing(@Qualifier("billingData") DataSource data) {
			super(data);
		}

		@Transactional("billing")
		@Idempotent("#id")
		public void charge(String id) {
			work(id);
		}

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		@Idempotent("#id")
		public void chargeByHand(String id, TransactionTemplate byHand) {
			byHand.executeWithoutResult((status) -> work(id));
		}

		@Transactional
		@Idempotent("#id")
		public void chargeByDefault(String id) {
			work(id);
		}

	}

	@Qualifier("billing")
	static class QualifiedBilling extends Work {

		QualifiedBilling(@Qualifier("billingData") DataSource data) {
			super(data);
		}

		@Transactional
		@Idempotent("#id")
		public void charge(String id) {
			work(id);
		}

	}

	static class JoinedBilling extends Work {

		JoinedBilling(@Qualifier("billingData") DataSource data) {
			super(data);
		}

		@Transactional("billing")
		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public void charge(String id) {
			work(id);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Managers {

		@Bean
		@Primary
		PlatformTransactionManager shop(@Qualifier("shopData") DataSource data) {
			return new JdbcTransactionManager(data);
		}

		@Bean
		PlatformTransactionManager billing(@Qualifier("billingData") DataSource data) {
			return new JdbcTransactionManager(data);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BillingIsTheDefault {

		@Bean
		TransactionManagementConfigurer defaultManager(@Qualifier("billing") PlatformTransactionManager billing) {
			return () -> billing;
		}

	}

}
