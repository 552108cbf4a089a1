/**
 * The method door: annotation → operation → pointcut → advisor → interceptor, for any
 * Spring bean method.
 */
@NullMarked
package io.idempotency.aop;

import org.jspecify.annotations.NullMarked;
