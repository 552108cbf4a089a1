/**
 * The shop in a real browser.
 */
@NullMarked
package io.idempotency.samples.shop.browser;

import org.jspecify.annotations.NullMarked;
